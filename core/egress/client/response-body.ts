import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { copyBytes } from '../guard/index.ts';
import { hasPausedReader } from './paused-reader.ts';
import { toUpstreamError } from './upstream-error.ts';

/** What an upstream answered, before anyone decides what to do with it. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** Bytes from which no more are asked for ahead of a reader that asks by itself. Who pauses has one read held at most. */
const HIGH_WATER_MARK = 64 * 1024;

/** An upstream's body. Destroying it before its end closes the connection at once. */
class ResponseBody extends Readable {
  readonly #controller: Dispatcher.DispatchController;
  #complete = false;

  constructor(controller: Dispatcher.DispatchController) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#controller = controller;
  }

  accept(chunk: Buffer): void {
    // The first lies in one piece of memory with the head of the answer: whoever takes it shall have nothing else.
    const own = chunk.byteLength === chunk.buffer.byteLength ? chunk : copyBytes(chunk);
    if (!this.push(own) || hasPausedReader(this)) this.#controller.pause();
  }

  complete(): void {
    this.#complete = true;
    this.push(null);
  }

  override _read(): void {
    if (hasPausedReader(this)) this.push('');
    // Not at once: what comes within a `_read`, Node holds before it passes it on.
    else if (this.#controller.paused) process.nextTick(() => this.#goOn());
  }

  #goOn(): void {
    if (this.destroyed) return;
    if (hasPausedReader(this)) this.push('');
    else this.#controller.resume();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.#complete) this.#controller.abort(error ?? new Error('the rest is not wanted'));
    callback(error);
  }
}

/** Sends one request and waits for the head of its answer. Rejects with whatever the dispatcher fails with. */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  signal?: AbortSignal,
): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  let controller: Dispatcher.DispatchController | undefined;
  let body: ResponseBody | undefined;

  const onAbort = () => {
    const reason = signal?.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal?.reason });
    if (body) body.destroy(reason);
    else controller?.abort(reason);
    reject(signal?.reason);
  };
  const forget = () => signal?.removeEventListener('abort', onAbort);
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
      // They lie in the first chunk from the socket, and would keep all of it for as long as the body lasts.
      started.rawHeaders = null;
      body = new ResponseBody(started);
      body.once('close', forget);
      resolve({ status, headers: joined(headers), body });
    },
    onResponseData(_started, chunk) {
      body?.accept(chunk);
    },
    onResponseEnd() {
      body?.complete();
    },
    onResponseError(_started, error) {
      if (body) body.destroy(toUpstreamError(error));
      forget();
      reject(error);
    },
  });
  return promise;
}

const joined = (headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
