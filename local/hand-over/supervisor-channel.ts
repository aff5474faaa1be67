import { deserialize, serialize } from 'node:v8';

/** A listening socket, as Node's `server.listen` takes it, and where it listens by the settings of its first owner. */
export interface TakenSocket {
  readonly socket: unknown;
  readonly host: string;
  readonly port: number;
}

/**
 * The channel to the supervisor (`local/supervisor.mjs`), by which a service hands over to its successor: the socket, and then
 * calls of the former service, which the supervisor relays to the one in charge.
 */
export interface SupervisorChannel {
  /** Whether this process replaces a running service. */
  readonly isSuccessor: boolean;
  /** Waits for the socket of the running service; undefined when that one has ended meanwhile. */
  takeOver(): Promise<TakenSocket | undefined>;
  /** The service listens: the supervisor releases its copy of the socket. */
  reportListening(): void;
  /** Called once, when a successor is ready. */
  onHandOver(callback: () => void): void;
  /** Gives the socket to the successor. */
  give(taken: TakenSocket): Promise<void>;
  /** Calls the service in charge. @throws Error that it answers with, with its name */
  call(name: string, args: readonly unknown[]): Promise<unknown>;
  /** Answers calls of former services, those included that have arrived already. */
  answer(respond: (name: string, args: readonly unknown[]) => Promise<unknown>): void;
}

interface Message {
  readonly reelay?: 'take-over' | 'hand-over' | 'call' | 'reply';
  readonly id?: string;
  /** Base64 of what `node:v8` serializes. */
  readonly payload?: string;
  readonly host?: string;
  readonly port?: number;
}

type Call = readonly [name: string, args: readonly unknown[]];
type Reply = { readonly value: unknown } | { readonly error: { readonly name: string; readonly message: string } };

const encode = (value: Call | Reply): string => serialize(value).toString('base64');
const decode = <T>(payload = ''): T => deserialize(Buffer.from(payload, 'base64')) as T;

/** Undefined without a supervisor that relays. */
export function connectSupervisor(environment = process.env): SupervisorChannel | undefined {
  const { REELAY_HAND_OVER: role } = environment;
  delete environment.REELAY_HAND_OVER;
  if (!process.send || !role) return undefined;
  const taken = Promise.withResolvers<TakenSocket | undefined>();
  const handOver = Promise.withResolvers<void>();
  const responder = Promise.withResolvers<(name: string, args: readonly unknown[]) => Promise<unknown>>();
  const pending = new Map<string, PromiseWithResolvers<unknown>>();
  let calls = 0;

  const send = (message: object, socket?: unknown): Promise<void> =>
    new Promise((resolve, reject) => {
      process.send?.(message, socket as never, {}, (error) => (error ? reject(error) : resolve()));
    });
  const respond = async ({ id, payload }: Message) => {
    const [name, args] = decode<Call>(payload);
    const reply = await (await responder.promise)(name, args).then(
      (value): Reply => ({ value }),
      (error: Error): Reply => ({ error: { name: error.name, message: error.message } }),
    );
    // The supervisor is gone, and this process ends.
    await send({ reelay: 'reply', id, payload: encode(reply) }).catch(() => undefined);
  };
  const settle = ({ id = '', payload }: Message) => {
    const call = pending.get(id);
    // Without a payload: the service in charge has ended.
    const reply = payload ? decode<Reply>(payload) : { error: { name: 'Error', message: 'No service is in charge' } };
    if ('value' in reply) call?.resolve(reply.value);
    else call?.reject(Object.assign(new Error(reply.error.message), { name: reply.error.name }));
  };

  process.on('message', (message: Message, socket: unknown) => {
    const { host = '', port = 0 } = message;
    if (message.reelay === 'take-over') taken.resolve(socket ? { socket, host, port } : undefined);
    else if (message.reelay === 'hand-over') handOver.resolve();
    else if (message.reelay === 'call') void respond(message);
    else if (message.reelay === 'reply') settle(message);
  });
  process.once('disconnect', () => {
    for (const call of pending.values()) call.reject(new Error('The supervisor has ended'));
  });

  return {
    isSuccessor: role === 'successor',
    async takeOver() {
      await send({ reelay: 'ready' });
      return taken.promise;
    },
    reportListening: () => void send({ reelay: 'listening' }).catch(() => undefined),
    onHandOver: (callback) => void handOver.promise.then(callback),
    give: ({ socket, host, port }) => send({ reelay: 'handed-over', host, port }, socket),
    async call(name, args) {
      const id = String(++calls);
      const call = Promise.withResolvers<unknown>();
      pending.set(id, call);
      void send({ reelay: 'call', id, payload: encode([name, args]) }).catch(call.reject);
      return call.promise.finally(() => pending.delete(id));
    },
    answer: responder.resolve,
  };
}
