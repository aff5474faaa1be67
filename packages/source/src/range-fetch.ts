import { createHash, type Hash } from 'node:crypto';
import { finished, type Readable } from 'node:stream';
import { appendChunk } from '@reelay/guarded-fetch';
import type { UpstreamBody } from './attempts.ts';
import { type AttemptOptions, Attempts } from './attempts.ts';
import type { CompletenessCheck, MediaCheck } from './completeness.ts';
import { UpstreamError } from './errors.ts';
import type { SeenBytes, UpstreamTarget } from './upstream-request.ts';
import { entityChanged, hasValidator, type RequestedRange } from './upstream-request.ts';

/** Receives the bytes of a RangeFetch. When `data` returns false, no more follow until `RangeFetch.resume`. */
export interface RangeSink {
  data(chunk: Buffer): boolean;
  end(): void;
  fail(error: Error): void;
}

export interface RangeFetchOptions extends AttemptOptions {
  readonly requested: RequestedRange;
  /** Bytes buffered while the sink does not read. */
  readonly bufferLimitBytes: number;
  /**
   * Called when the source answers a range request with the whole entity. Returns the offset up to which to keep reading
   * that response (infinite: to its end); undefined: only the requested range. Otherwise the next fetch would transfer
   * the same bytes again.
   */
  readonly onFullResponse?: () => number | undefined;
  /** Checks a body whose truncation HTTP does not reveal. */
  readonly createCheck?: () => CompletenessCheck;
  /**
   * Checks a segment, whatever HTTP says of its completeness. None of it is passed on before its first bytes are accepted. A
   * damaged one is requested again, unless bytes of it have been passed on.
   */
  readonly createSegmentCheck?: () => MediaCheck;
  /** What that check needs has been read. */
  readonly beforeVerdict?: Promise<void>;
  /** Called for each chunk received, with its length. */
  readonly onBytes?: (count: number) => void;
  /** Called once, when the last byte has arrived or fetching has failed. */
  readonly onSettled?: () => void;
}

/** One for all: its stack says nothing, and takes longer to record than a chunk to copy. */
const CANCELLED = new Error('Fetch cancelled');
/** Bytes that are compared with those of another server. */
const SAMPLE_BYTES = 4096;

/**
 * Fetches a byte range of one target, starting on construction. After a failure it continues at the next byte. Buffers
 * until a sink is attached, then passes chunks through without copying.
 */
export class RangeFetch {
  readonly #options: RangeFetchOptions;
  readonly #abort = new AbortController();
  readonly #attempts: Attempts;
  readonly #buffer: Buffer[] = [];
  readonly #firstByte = Promise.withResolvers<void>();
  /** Identifies an entity without validators: what is sent again must begin with the same bytes. */
  #prefix = createHash('sha256');
  #prefixBytes = 0;
  /** What was known of the entity before this fetch. */
  readonly #known: { readonly entity: UpstreamTarget['entity']; readonly sample: SeenBytes | undefined };
  /** URL after redirects; empty before the first response. */
  url = '';
  #bufferedBytes = 0;
  /** Offset of the next byte. */
  #next: number;
  #last: number | undefined;
  #sink: RangeSink | undefined;
  #body: Readable | undefined;
  /** Settles `#receive` before the body has ended. */
  #finishBody: (() => void) | undefined;
  /** Settles `#untilReadable`. */
  #onReadable: (() => void) | undefined;
  #isSinkReady = true;
  #segment: MediaCheck | undefined;
  #isPassedOn = false;
  /** Times that the segment was damaged. */
  #damages = 0;
  #outcome: 'running' | 'complete' | Error = 'running';

  constructor(options: RangeFetchOptions) {
    this.#options = options;
    this.#known = { entity: options.target.entity, sample: options.target.seen.sample };
    this.#attempts = new Attempts(options);
    this.#segment = options.createSegmentCheck?.();
    this.#next = options.requested.first;
    this.#last = options.requested.last;
    // A failure is reported to the sink, too: it must not count as an unhandled rejection.
    this.#firstByte.promise.catch(() => undefined);
    this.#run().then(
      () => this.#settle('complete'),
      (error: Error) => this.#settle(error),
    );
  }

  /** True while bytes are still to come from the source. */
  get isRunning(): boolean {
    return this.#outcome === 'running';
  }

  /** Bytes still to come; infinite when the end is unknown. */
  get remainingBytes(): number {
    return this.isRunning ? this.#end - this.#next + 1 : 0;
  }

  /** Bytes that this fetch may hold in memory at most: buffered, and still to come. */
  get maxBufferedBytes(): number {
    return this.#bufferedBytes + this.remainingBytes;
  }

  /** Resolves when the first bytes are buffered, or when there are none. Rejects when fetching fails before. */
  get firstByte(): Promise<void> {
    return this.#firstByte.promise;
  }

  /** Offset of the last byte; undefined when unknown. */
  get last(): number | undefined {
    return this.#last;
  }

  /** Shortens the range to end at `last`, and drops buffered bytes beyond. */
  truncate(last: number): void {
    if (last >= this.#end) return;
    this.#last = last;
    for (let excess = this.#next - 1 - last; excess > 0; ) {
      const chunk = this.#buffer.pop();
      if (!chunk) break;
      const kept = chunk.subarray(0, Math.max(chunk.length - excess, 0));
      if (kept.length > 0) this.#buffer.push(kept);
      this.#bufferedBytes -= chunk.length - kept.length;
      excess -= chunk.length - kept.length;
    }
    if (this.#isComplete()) this.#finishBody?.();
  }

  /** Passes what is buffered to a sink, then each chunk as it arrives. */
  attach(sink: RangeSink): void {
    this.#sink = sink;
    this.resume();
  }

  /** The sink is ready for more. */
  resume(): void {
    this.#isSinkReady = true;
    while (this.#sink && this.#isSinkReady && !this.#isHeld) {
      const chunk = this.#buffer.shift();
      if (!chunk) break;
      this.#bufferedBytes -= chunk.length;
      this.#passOn(this.#sink, chunk);
    }
    if (this.#buffer.length === 0 && this.#outcome !== 'running') this.#notifySink();
    else this.#updateFlow();
  }

  /** Aborts the request and drops what is buffered. The sink is not called again. */
  destroy(): void {
    this.#sink = undefined;
    this.#buffer.length = 0;
    this.#abort.abort(CANCELLED);
  }

  get #end(): number {
    return this.#last ?? Number.POSITIVE_INFINITY;
  }

  /** Nothing may be passed on yet: the first bytes have not been accepted. */
  get #isHeld(): boolean {
    return this.#segment !== undefined && !this.#segment.isAccepted;
  }

  #passOn(sink: RangeSink, chunk: Buffer): void {
    this.#isPassedOn = true;
    this.#isSinkReady = sink.data(chunk);
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    for (;;) {
      await this.#read(signal);
      await this.#options.beforeVerdict;
      const damage = this.#segment && (this.#segment.problem() ?? this.#shortfall());
      if (damage === undefined) return;
      await this.#restart(new UpstreamError(`Damaged segment: ${damage}`), signal);
    }
  }

  /** A list may state a range that its file does not have. */
  #shortfall(): string | undefined {
    const { last = -1 } = this.#options.requested;
    return this.#next <= last ? 'the file ends within its range' : undefined;
  }

  /** Begins again after a damaged segment. @throws UpstreamError when there were too many, or bytes of it have been passed on */
  async #restart(error: UpstreamError, signal: AbortSignal): Promise<void> {
    const { requested, target, createSegmentCheck, limits } = this.#options;
    this.#damages += 1;
    if (this.#isPassedOn || this.#damages >= limits.maxAttempts) throw error;
    await this.#attempts.retry(error, signal);
    this.#buffer.length = 0;
    this.#bufferedBytes = 0;
    this.#next = requested.first;
    this.#last = requested.last;
    this.#prefix = createHash('sha256');
    this.#prefixBytes = 0;
    target.entity = this.#known.entity;
    target.seen.sample = this.#known.sample;
    this.#segment = createSegmentCheck?.();
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { requested, target, onFullResponse } = this.#options;
    while (!this.#isComplete()) {
      const isCompared = this.#prefixBytes === this.#next;
      const response = await this.#attempts.request({ first: this.#next, last: this.#last, isCompared }, signal);
      this.url = response.url;
      // Not later: who reads may have shortened the range, and started the fetch that follows it.
      const isFirst = this.#next === requested.first;
      const extended = isFirst && response.isFullResponse ? onFullResponse?.() : undefined;
      if (extended !== undefined) this.#last = Number.isFinite(extended) ? extended : undefined;
      if (target.entity.size !== undefined) this.truncate(target.entity.size - 1);
      const failure = await this.#receive(response);
      signal.throwIfAborted();
      if (failure) {
        await (this.#isRefused ? this.#restart(failure, signal) : this.#attempts.retry(failure, signal));
        await this.#untilReadable(signal);
      } else this.#last ??= this.#next - 1;
    }
  }

  /** Waits until there is room for more bytes: a request sent while the client is paused would time out again. */
  async #untilReadable(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onReadable = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
    this.#updateFlow();
    await promise;
    this.#onReadable = undefined;
    signal.throwIfAborted();
  }

  #isComplete(): boolean {
    return this.#next > this.#end;
  }

  /**
   * Reads a response body.
   * @returns undefined when it was complete or nothing more of it is needed; otherwise why it fell short
   * @throws UpstreamError when it repeats bytes that differ from those received before
   */
  #receive({ body, skip, length, isFullResponse, isSelfDelimited }: UpstreamBody): Promise<UpstreamError | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<UpstreamError | undefined>();
    const check = isSelfDelimited || this.#segment ? undefined : this.#options.createCheck?.();
    /** Digests the bytes that are sent again, where all of them were digested before. */
    const repeated: Hash | undefined = skip > 0 && skip === this.#prefixBytes ? createHash('sha256') : undefined;
    const bodyEnd = length === undefined || isFullResponse ? Number.POSITIVE_INFINITY : this.#next + length - 1;
    const remaining = () => Math.min(this.#end, bodyEnd) - this.#next + 1;
    let leftToSkip = skip;
    this.#body = body;
    // The end of the body is still read, so that the connection can be reused.
    const finishBody = () => {
      this.#body = undefined;
      this.#finishBody = undefined;
      resolve(undefined);
      body.resume();
    };
    this.#finishBody = finishBody;

    body.on('data', (data: Buffer) => {
      const skipped = Math.min(leftToSkip, data.length);
      leftToSkip -= skipped;
      check?.update(data);
      if (skipped > 0) repeated?.update(data.subarray(0, skipped));
      if (skipped > 0 && leftToSkip === 0 && repeated && !repeated.digest().equals(this.#prefix.copy().digest())) {
        reject(entityChanged());
        body.destroy();
        return;
      }
      const room = Math.max(remaining(), 0);
      // The common case needs no subarray: one object less per chunk.
      const chunk = skipped === 0 && data.length <= room ? data : data.subarray(skipped, skipped + room);
      // More than was requested: closing the connection avoids reading the rest, and not reusing it is safer.
      if (data.length - skipped > chunk.length) body.destroy();
      if (chunk.length > 0) this.#accept(chunk);
      if (this.#isRefused) {
        resolve(new UpstreamError('Damaged segment: no media of its list'));
        body.destroy();
      } else if (remaining() <= 0) finishBody();
    });
    finished(body, (error) => {
      if (error) return resolve(asUpstreamError(error));
      const isShort = leftToSkip > 0 || (remaining() > 0 && Number.isFinite(remaining()));
      const found = isSelfDelimited ? undefined : (check ?? this.#segment)?.problem();
      const problem = isShort ? 'shorter than its Content-Length' : found;
      resolve(problem === undefined ? undefined : new UpstreamError(`Truncated response: ${problem}`));
    });
    if (remaining() <= 0) finishBody();
    else this.#updateFlow();
    return promise;
  }

  /** Keeps the latest bytes, by which another server of the source is known: two versions of a file may begin alike. */
  #addSample(chunk: Buffer): void {
    const { seen } = this.#options.target;
    const bytes = chunk.subarray(-SAMPLE_BYTES);
    if (bytes.length < (seen.sample?.bytes.length ?? 0)) return;
    seen.sample = { first: this.#next + chunk.length - bytes.length, bytes: Buffer.from(bytes) };
  }

  #accept(chunk: Buffer): void {
    if (this.#prefixBytes === this.#next && !hasValidator(this.#options.target.entity)) {
      this.#prefix.update(chunk);
      this.#prefixBytes += chunk.length;
    }
    this.#addSample(chunk);
    const wasHeld = this.#isHeld;
    this.#segment?.update(chunk);
    this.#next += chunk.length;
    this.#attempts.addProgress(chunk.length, this.#isComplete());
    if (this.#sink && this.#isSinkReady && this.#buffer.length === 0 && !this.#isHeld) this.#passOn(this.#sink, chunk);
    else {
      appendChunk(this.#buffer, chunk);
      this.#bufferedBytes += chunk.length;
    }
    if (!this.#isHeld) {
      this.#firstByte.resolve();
      if (wasHeld && this.#isSinkReady) this.resume();
    }
    this.#options.onBytes?.(chunk.length);
    this.#updateFlow();
  }

  /** The first bytes are nothing that the list may have. */
  get #isRefused(): boolean {
    return this.#segment?.kind !== undefined && !this.#segment.isAccepted;
  }

  /** Resumes the body while the sink reads or the buffer has room; else pauses it. */
  #updateFlow(): void {
    const isReadable = this.#sink ? this.#isSinkReady : this.#bufferedBytes < this.#options.bufferLimitBytes;
    if (isReadable) {
      this.#body?.resume();
      this.#onReadable?.();
    } else this.#body?.pause();
  }

  #settle(outcome: 'complete' | Error): void {
    this.#outcome = outcome;
    this.#body = undefined;
    if (outcome === 'complete') this.#firstByte.resolve();
    else {
      // Ends the response that was being read, whatever has failed.
      this.#abort.abort(outcome);
      this.#firstByte.reject(outcome);
      if (this.#isHeld) this.#buffer.length = 0;
    }
    this.#options.onSettled?.();
    if (this.#sink && this.#isSinkReady) this.resume();
    else if (this.#buffer.length === 0) this.#notifySink();
  }

  #notifySink(): void {
    const sink = this.#sink;
    if (!sink || this.#outcome === 'running') return;
    this.#sink = undefined;
    if (this.#outcome === 'complete') sink.end();
    else sink.fail(this.#outcome);
  }
}

/** The error of a failed body as an UpstreamError: a premature close, for one, is reported by Node itself. */
const asUpstreamError = (error: Error): UpstreamError =>
  error instanceof UpstreamError ? error : new UpstreamError('Upstream response failed', { cause: error });
