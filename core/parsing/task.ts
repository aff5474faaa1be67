import type { PureTask } from '@reelay/seekable-media/tasks';

/** A pure function of what a stranger sent. */
export interface ParsingTask<Input, Output> extends Omit<PureTask<Input, Output>, 'run'> {
  /** Absent: too dangerous for this process, whatever its input. */
  readonly run?: PureTask<Input, Output>['run'];
}

/** Bytes of an unknown or a number. */
const VALUE_BYTES = 8;

/** Bytes of the buffers, texts and values of an input, roughly. */
export function inputBytes(input: unknown): number {
  if (typeof input === 'string') return input.length;
  if (ArrayBuffer.isView(input)) return input.byteLength;
  if (typeof input !== 'object' || input === null) return VALUE_BYTES;
  return Object.values(input).reduce((sum, value) => sum + inputBytes(value), 0);
}

/** A task for a process. */
export interface TaskRequest {
  readonly name: string;
  readonly input: unknown;
}

/** A part of a large buffer of the request that follows. */
interface BufferPart {
  readonly part: Uint8Array;
}

/** A request whose large buffers were sent before it. */
interface SplitRequest extends TaskRequest {
  /** In the order of their parts. */
  readonly buffers: readonly { readonly path: readonly string[]; readonly parts: number }[];
}

/** Serializing as much takes about a millisecond of the event loop. */
const MAX_PART_BYTES = 1024 * 1024;
/** Buffers of this size and more are sent as messages of their own, so that the request itself is serialized quickly. */
const LARGE_BYTES = 16 * 1024;

/** The messages of a request: one for each part of a large buffer, none of which takes long to serialize, then the request. */
export function* splitRequest(request: TaskRequest): Generator<BufferPart | SplitRequest> {
  const found: { path: readonly string[]; bytes: Uint8Array }[] = [];
  const withoutLarge = (value: unknown, path: readonly string[]): unknown => {
    if (value instanceof Uint8Array && value.length >= LARGE_BYTES) {
      found.push({ path, bytes: value });
      return undefined;
    }
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
    if (Array.isArray(value)) return value.map((each, index) => withoutLarge(each, [...path, String(index)]));
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutLarge(each, [...path, key])]));
  };
  const input = withoutLarge(request.input, ['input']);
  for (const { bytes } of found) {
    for (let at = 0; at < bytes.length; at += MAX_PART_BYTES) yield { part: bytes.subarray(at, at + MAX_PART_BYTES) };
  }
  const buffers = found.map(({ path, bytes }) => ({ path, parts: Math.ceil(bytes.length / MAX_PART_BYTES) }));
  yield { name: request.name, input, buffers };
}

/** The request of `splitRequest`. Its large buffers are of type Buffer. @param parts of all of its buffers */
function joinRequest({ buffers, ...request }: SplitRequest, parts: readonly Uint8Array[]): TaskRequest {
  let first = 0;
  for (const { path, parts: count } of buffers) {
    let parent = request as Record<string, unknown>;
    for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
    parent[path.at(-1) ?? ''] = Buffer.concat(parts.slice(first, first + count));
    first += count;
  }
  return request;
}

/** What it responds with. */
export type TaskResponse =
  | { readonly output: unknown }
  | { readonly error: { readonly className: string; readonly message: string } };

/** The output of a response. @throws the error of the task, as an instance of its class */
export function readResponse<Input, Output>(
  response: TaskResponse,
  { errors = [] }: ParsingTask<Input, Output>,
): Output {
  if ('output' in response) return withOwnBytes(response.output) as Output;
  const { className, message } = response.error;
  const ErrorClass = errors.find(({ name }) => name === className) ?? Error;
  throw new ErrorClass(message);
}

/**
 * Replaces buffers and typed arrays, in place, by copies. Those of a message share its memory: one of a few bytes that is kept
 * would keep all of it.
 */
function withOwnBytes(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return Buffer.from(new Uint8Array(value).buffer);
  // It is a typed array: a process sends no DataView.
  if (ArrayBuffer.isView(value)) return (value as Uint8Array).slice();
  if (typeof value !== 'object' || value === null) return value;
  const parts = value as Record<string, unknown>;
  for (const name of Object.keys(parts)) if (typeof parts[name] === 'object') parts[name] = withOwnBytes(parts[name]);
  return value;
}

/** Runs tasks for the parent process, one response per request. The process exits when its parent disconnects. */
export function serveTasks(tasks: readonly ParsingTask<never, unknown>[]): void {
  const byName = new Map(tasks.map((task) => [task.name, task]));

  const respond = async ({ name, input }: TaskRequest): Promise<TaskResponse> => {
    try {
      const run = byName.get(name)?.run;
      if (!run) throw new Error(`Unknown task ${name}`);
      return { output: await run(input as never) };
    } catch (error) {
      const thrown = error as Error;
      return { error: { className: thrown.constructor.name, message: thrown.message } };
    }
  };

  // Ctrl-C in a terminal must only end the service, which still answers requests then.
  process.on('SIGINT', () => undefined);
  const parts: Uint8Array[] = [];
  process.on('message', async (message: BufferPart | SplitRequest) => {
    if ('part' in message) parts.push(message.part);
    else process.send?.(await respond(joinRequest(message, parts.splice(0))));
  });
  process.send?.('ready');
}
