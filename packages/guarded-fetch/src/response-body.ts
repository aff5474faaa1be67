import { pipeline, Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { EgressRefused, UpstreamError } from './errors.ts';
import { copyBytes } from './socket.ts';

/** The head of a response, and its body as a stream. */
export interface GuardedResponse {
  readonly status: number;
  /** Lower-case names; repeated fields joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body was compressed: its headers tell nothing of its length. */
  readonly wasDecoded?: true;
  /** The final URL, after redirects. */
  readonly url: string;
  /** To be read to its end or destroyed. */
  readonly body: Readable;
}

/** The response of one hop. */
export type RawResponse = Pick<GuardedResponse, 'status' | 'headers' | 'body'>;

/** Bytes buffered for a reader that pulls. For a paused reader one chunk is buffered at most. */
const HIGH_WATER_MARK = 64 * 1024;
/** Smaller chunks are passed on together when they arrive together. */
const MIN_CHUNK_BYTES = 4 * 1024;
/** In one turn of the event loop: some milliseconds of processor time. One read of the socket may have 40,000. */
const MAX_SMALL_CHUNKS = 4_000;

/**
 * A response body. Destroying it before its end closes the connection. It has a listener of its own errors: it may fail
 * before the one who requested it has seen it, and a body that is never read would end the process.
 */
class ResponseBody extends Readable {
  readonly #controller: Dispatcher.DispatchController;
  #complete = false;
  /** Small chunks of one read of the socket: with chunked coding a source may send one byte a chunk. */
  #small: Buffer[] = [];
  #smallChunks = 0;
  /** Until the next turn of the event loop. */
  #isResting = false;

  constructor(controller: Dispatcher.DispatchController) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#controller = controller;
    this.on('error', ignore);
  }

  accept(chunk: Buffer): void {
    if (chunk.length < MIN_CHUNK_BYTES) {
      // After the parser has finished with the bytes of this read.
      if (this.#small.length === 0) queueMicrotask(() => this.#flush());
      appendChunk(this.#small, chunk);
      this.#smallChunks += 1;
      if (this.#smallChunks === MAX_SMALL_CHUNKS) this.#rest();
      return;
    }
    this.#flush();
    this.#pass(chunk);
  }

  #rest(): void {
    this.#isResting = true;
    this.#controller.pause();
    setImmediate(() => {
      this.#isResting = false;
      this.#smallChunks = 0;
      // Else reading continues once there is room in the buffer.
      if (this.readableLength < HIGH_WATER_MARK) this.#resume();
    });
  }

  #flush(): void {
    if (this.destroyed) return;
    for (const chunk of this.#small.splice(0)) this.#pass(chunk);
  }

  #pass(chunk: Buffer): void {
    // The first chunk shares its memory with the response head, which would be retained with it.
    const own = chunk.byteLength === chunk.buffer.byteLength ? chunk : copyBytes(chunk);
    if (!this.push(own) || hasPausedReader(this)) this.#controller.pause();
  }

  complete(): void {
    this.#flush();
    this.#complete = true;
    this.push(null);
  }

  override _read(): void {
    if (hasPausedReader(this)) this.push('');
    // Deferred: Node buffers chunks that are pushed during `_read` instead of emitting them.
    else if (this.#controller.paused) process.nextTick(() => this.#resume());
  }

  #resume(): void {
    if (this.destroyed || this.#isResting) return;
    if (hasPausedReader(this)) this.push('');
    else this.#controller.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#complete) this.#controller.abort(error ?? new Error('The rest of the response is not needed'));
    callback(error);
  }
}

/** Readers of a body learn of its failure from listeners of their own. */
const ignore = () => undefined;

/** Bodies up to this size are read to their end, so that the connection can be used again. */
const MAX_DRAINED_BYTES = 16 * 1024;
/** Bounds reading to the end as a whole: a source that sends a byte now and then would keep the connection open. */
const DRAIN_TIMEOUT_MS = 2_000;

/** Disposes of a response whose body is not needed: drains a short body, and closes the connection of any other. */
export function discardResponse({ headers, body }: Pick<RawResponse, 'headers' | 'body'>): void {
  const size = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  if (!(size <= MAX_DRAINED_BYTES)) {
    body.destroy();
    return;
  }
  const timer = setTimeout(() => body.destroy(), DRAIN_TIMEOUT_MS).unref();
  body.once('close', () => clearTimeout(timer)).resume();
}

/** Sends one request; resolves with the head of the response. Rejects with the dispatcher's error. */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal?: AbortSignal,
): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  let controller: Dispatcher.DispatchController | undefined;
  let body: ResponseBody | undefined;

  const onAbort = () => {
    const reason = signal?.reason instanceof Error ? signal.reason : new Error('Aborted', { cause: signal?.reason });
    if (body) body.destroy(reason);
    else controller?.abort(reason);
    reject(signal?.reason);
  };
  const removeListener = () => signal?.removeEventListener('abort', onAbort);
  if (signal?.aborted) {
    reject(signal.reason);
    return promise;
  }
  signal?.addEventListener('abort', onAbort, { once: true });

  dispatcher.dispatch(options, {
    onRequestStart(started) {
      controller = started;
      if (signal?.aborted) onAbort();
    },
    onResponseStart(started, status, headers) {
      if (status < 200) return;
      // Raw headers reference the first chunk from the socket and would retain it for as long as the body lasts.
      started.rawHeaders = null;
      body = new ResponseBody(started);
      body.once('close', removeListener);
      resolve({ status, headers: joinFields(headers), body });
    },
    onResponseData(_started, chunk) {
      body?.accept(chunk);
    },
    onResponseEnd() {
      body?.complete();
    },
    onResponseError(_started, error) {
      body?.destroy(toUpstreamError(error));
      removeListener();
      reject(error);
    },
  });
  return promise;
}

const joinFields = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );

/** The error of a failed connection or transfer: EgressRefused unchanged, any other error as an UpstreamError. */
export function toUpstreamError(error: unknown): EgressRefused | UpstreamError {
  if (error instanceof EgressRefused || error instanceof UpstreamError) return error;
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const reason = (code && REASONS[code]) ?? 'Upstream request failed';
  const isTimeout = code !== undefined && TIMEOUTS.has(code);
  return new UpstreamError(reason, { cause: error, reason: isTimeout ? 'site-timeout' : 'site-error' });
}

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);

/** Messages for error codes of undici and of the system. */
const REASONS: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'Upstream connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'Upstream response timed out',
  UND_ERR_BODY_TIMEOUT: 'Upstream body stalled',
  UND_ERR_HEADERS_OVERFLOW: 'Upstream response headers too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'Upstream body does not match its Content-Length',
  UND_ERR_SOCKET: 'Upstream closed the connection',
  ECONNREFUSED: 'Upstream refused the connection',
  ECONNRESET: 'Upstream reset the connection',
};

/**
 * True while the consumer of a stream has paused it. Node continues to fill the buffer of a paused stream up to its
 * high-water mark. A stream that checks this after each push and before each read pauses its source instead, so that a
 * thousand paused clients occupy no buffers. In `_read` such a stream calls `push('')`, which makes Node call `_read` again
 * once the consumer resumes.
 */
export const hasPausedReader = (stream: Readable): boolean =>
  stream.isPaused() && stream.listenerCount('readable') === 0;

/** Chunks of this size are kept as they are. */
const JOINED_BYTES = 16 * 1024;

/**
 * Appends a chunk to a list that keeps its bytes for later. Small chunks are joined: a source may send one byte per
 * chunk, and each buffer has an overhead of some 300 bytes. Each byte is copied at most once per doubling.
 */
export function appendChunk(chunks: Buffer[], chunk: Buffer): void {
  let joined = chunk;
  while (joined.length < JOINED_BYTES) {
    const last = chunks.at(-1);
    if (!last || last.length > joined.length) break;
    chunks.pop();
    joined = join(last, joined);
  }
  chunks.push(joined);
}

/** A buffer that shares no memory: one from Node's pool would retain the whole pool. */
function join(...parts: readonly Buffer[]): Buffer {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}

/**
 * The bytes that a generator makes. Unlike that of `Readable.from`, its destruction does not wait for what the generator waits for.
 * @param onDestroy ends what the generator waits for
 */
export function generatedStream(parts: AsyncIterator<Buffer>, onDestroy: () => void): Readable {
  return new Readable({
    highWaterMark: 1,
    read() {
      parts.next().then(
        ({ value, done }) => this.push(done ? null : value),
        (error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      onDestroy();
      // Its `finally` blocks run once it does not wait any more.
      parts.return?.().catch(() => undefined);
      done(error);
    },
  });
}

/** A part of compressed bytes ends somewhere. */
const PART = { finishFlush: constants.Z_SYNC_FLUSH };

const DECODERS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The response with its body decoded, as far as it is read. Others, and unknown codings, stay as they are. */
export function decodeResponse(response: GuardedResponse): GuardedResponse {
  const { 'content-encoding': coding = '', 'content-length': _, ...headers } = response.headers;
  const create = DECODERS.get(coding.trim().toLowerCase());
  if (!create) return response;
  const decoder = pipeline(response.body, create(response.status === 206 ? PART : {}), () => undefined);
  const decoded = async function* () {
    try {
      yield* decoder;
    } catch (error) {
      throw toUpstreamError(error);
    }
  };
  const body = generatedStream(decoded(), () => decoder.destroy());
  return { ...response, headers, body, wasDecoded: true };
}
