import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { toUpstreamError } from './failures.ts';

/** What an upstream answered, before anyone decides what to do with it. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** What the bodies of one client may hold while their readers rest. */
export interface Holdings {
  /** Bodies that are open. */
  open: number;
}

/** Bytes that one body holds at most: enough that a fast upstream is not paused at every chunk. */
const MOST_HELD = 256 * 1024;
/** The same for all together. */
const MOST_HELD_IN_ALL = 32 * 1024 * 1024;
/** Bytes of one read from a socket: a share of less is none. */
const CHUNK = 64 * 1024;

/** An upstream's body. Destroying it before its end closes the connection at once. */
class ResponseBody extends Readable {
  readonly #controller: Dispatcher.DispatchController;
  readonly #holdings: Holdings;
  #complete = false;
  #isResting = false;

  constructor(controller: Dispatcher.DispatchController, holdings: Holdings) {
    super({ highWaterMark: MOST_HELD });
    this.#controller = controller;
    this.#holdings = holdings;
    holdings.open += 1;
  }

  /** More came from upstream, which is paused when that is enough. */
  accept(chunk: Buffer): void {
    if (!this.push(chunk) || this.#isFull()) this.#controller.pause();
  }

  override pause(): this {
    this.#isResting = true;
    return super.pause();
  }

  override resume(): this {
    this.#isResting = false;
    super.resume();
    this.#goOn();
    return this;
  }

  /** With its share of what all may hold: a thousand slow clients must not have a thousand full ones. */
  #isFull(): boolean {
    const share = MOST_HELD_IN_ALL / this.#holdings.open;
    return this.#isResting && this.readableLength + CHUNK > share;
  }

  #goOn(): void {
    if (this.#controller.paused) this.#controller.resume();
  }

  complete(): void {
    this.#complete = true;
    this.push(null);
  }

  override _read(): void {
    if (!this.#isFull()) this.#goOn();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#holdings.open -= 1;
    if (!this.#complete) this.#controller.abort(error ?? new Error('the rest is not wanted'));
    callback(error);
  }
}

/** Sends one request and waits for the head of its answer. Rejects with whatever the dispatcher fails with. */
export function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  holdings: Holdings,
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
      body = new ResponseBody(started, holdings);
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
