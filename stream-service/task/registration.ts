import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { HostAnswer, HostEvent } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';

interface RegistrationOptions {
  readonly hostFunction: string;
  /** `ECS_CONTAINER_METADATA_URI_V4`. */
  readonly metadataUri: string;
  readonly log: Log;
}

/** Tells the function of the on-demand stream host that this task serves, and that it leaves. */
interface Registration {
  /** Signs the requests of the edge: known to this process and the edge's key-value store. */
  readonly secret: string;
  /** Registers the task, and renews that until it leaves. */
  start(): void;
  /** Ends the registration. @param isIdle whether no task is needed. @throws Error when the function was not reached */
  leave(isIdle: boolean): Promise<void>;
  /** Ends the registration where `leave` has not. */
  close(): Promise<void>;
}

const SECRET_BYTES = 32;
/** A registration lasts 45 minutes. */
const RENEW_MS = 20 * 60_000;
const RETRY_MS = 5_000;
const CALL_TIMEOUT_MS = 5_000;

/** Failures to register are logged and retried; they never affect a stream. */
export function createRegistration({ hostFunction, metadataUri, log }: RegistrationOptions): Registration {
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const lambda = new LambdaClient({ maxAttempts: 2 });
  const leaving = new AbortController();

  let version: string | undefined;
  const send = async (event: HostEvent): Promise<void> => {
    const command = new InvokeCommand({ FunctionName: hostFunction, Payload: JSON.stringify(event) });
    const sent = await lambda.send(command, { abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    if (sent.FunctionError) throw new Error(`${hostFunction} failed`);
    const answer = JSON.parse(sent.Payload?.transformToString() ?? '{}') as Partial<HostAnswer>;
    version = answer.version ?? version;
  };
  const readMacAddress = async (): Promise<string> => {
    const response = await fetch(metadataUri, { signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    const { Networks = [] } = (await response.json()) as { Networks?: { MACAddress?: string }[] };
    const address = Networks[0]?.MACAddress;
    if (!address) throw new Error('The metadata of the task names no network interface');
    return address;
  };
  let calls: Promise<unknown> = Promise.resolve();
  /** Runs calls one after the other: a renewal that arrived after `leave` would register a task that has ended. */
  const inTurn = (call: () => Promise<void>): Promise<void> => {
    const result = calls.then(call);
    calls = result.catch(() => undefined);
    return result;
  };

  const register = async () => {
    if (leaving.signal.aborted) return;
    await send({ kind: 'serving', macAddress: await readMacAddress(), secret, version });
  };
  const keepRegistered = async () => {
    while (!leaving.signal.aborted) {
      const delayMs = await inTurn(register).then(
        () => RENEW_MS,
        (error: unknown) => {
          log.warn('Failed to register the task', { error });
          return RETRY_MS;
        },
      );
      await pause(delayMs, undefined, { signal: leaving.signal, ref: false }).catch(() => undefined);
    }
  };
  let hasLeft = false;
  const leave = (isIdle: boolean) =>
    inTurn(async () => {
      if (hasLeft) return;
      await send({ kind: 'leaving', secret, version, isIdle }).catch(async (error) => {
        // The failed call may have ended the registration, but the task still serves until the next attempt.
        await register().catch(() => undefined);
        throw error;
      });
      hasLeft = true;
      leaving.abort();
    });
  const end = async () => {
    leaving.abort();
    await leave(false).catch((error) => log.warn('Failed to end the registration', { error }));
    lambda.destroy();
  };

  let ended: Promise<void> | undefined;
  return {
    secret,
    start: () => void keepRegistered(),
    leave,
    close() {
      ended ??= end();
      return ended;
    },
  };
}
