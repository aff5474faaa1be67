import type { Readable } from 'node:stream';
import { finished } from 'node:stream';
import { problems } from '../../../core/api/index.ts';
import { UpstreamError } from '../../../core/errors/index.ts';
import { hasValidator, type RequestedRange } from './classify-response.ts';
import type { CompletenessCheck } from './completeness.ts';
import { createPrefixDigest } from './prefix-digest.ts';
import { PROGRESS_BYTES } from './retry-policy.ts';
import {
  backOff,
  fetchRange,
  type RetryState,
  type UpstreamBody,
  type UpstreamRequestDependencies,
  type UpstreamTarget,
} from './upstream-request.ts';

/** Who takes the bytes of a part. `data` gives false when it wants no more for now; then `Part.resume` follows. */
export interface RangeSink {
  data(chunk: Buffer): boolean;
  end(): void;
  fail(error: Error): void;
}

export interface RangeFetchOptions extends UpstreamRequestDependencies {
  readonly target: UpstreamTarget;
  readonly wanted: RequestedRange;
  /** Bytes held while nobody takes them. */
  readonly bufferLimitBytes: number;
  /**
   * Called when the source sends all it has instead of a range: gives the offset up to which this part may go on
   * with it (infinite: to its end), rather than leave it and be sent all again by the next part.
   */
  readonly onWhole?: () => number | undefined;
  /** Judges an answer of which nothing else tells whether it is complete. */
  readonly audit?: () => CompletenessCheck;
  /** Called with bytes as they come. */
  readonly onBytes?: (count: number) => void;
  /** Called when all of it is here, and when it has failed. */
  readonly onSettled?: () => void;
}

/**
 * A run of bytes of one target, under way from the moment it is made. Whatever breaks in between is mended at the
 * exact byte. Holds its bytes until a sink is attached, then passes them on as they come, without copying.
 */
export class RangeFetch {
  readonly #options: RangeFetchOptions;
  readonly #abort = new AbortController();
  readonly #patience: RetryState = { failures: 0 };
  readonly #held: Buffer[] = [];
  readonly #begun = Promise.withResolvers<void>();
  /** Of a thing that says nothing by which to know it again. */
  readonly #beginning = createPrefixDigest();
  /** Where its bytes come from, after redirects; empty before the first answer. */
  url = '';
  #heldBytes = 0;
  #next: number;
  #last: number | undefined;
  #sink: RangeSink | undefined;
  #body: Readable | undefined;
  /** Is done with the answer under way. */
  #leave: (() => void) | undefined;
  /** Goes on asking, once its bytes are wanted again. */
  #goOn: (() => void) | undefined;
  #isTaken = true;
  #progress = 0;
  #outcome: 'running' | 'complete' | Error = 'running';

  constructor(options: RangeFetchOptions) {
    this.#options = options;
    this.#next = options.wanted.first;
    this.#last = options.wanted.last;
    // Whoever waits hears of a failure; where nobody waits, the sink does.
    this.#begun.promise.catch(() => undefined);
    this.#run().then(
      () => this.#settle('complete'),
      (error: Error) => this.#settle(error),
    );
  }

  /** True while bytes are still to come from the source. */
  get isRunning(): boolean {
    return this.#outcome === 'running';
  }

  /** Bytes still to come; infinite when nobody knows. */
  get remainingBytes(): number {
    return this.isRunning ? this.#end - this.#next + 1 : 0;
  }

  /** Bytes held, and still to come: what it may take in memory at most. */
  get maxBufferedBytes(): number {
    return this.#heldBytes + this.remainingBytes;
  }

  /** Settles when its first bytes are held, or when it has ended without any. Rejects when it has failed before. */
  get firstByte(): Promise<void> {
    return this.#begun.promise;
  }

  /** Wants nothing beyond `last`; what is held of that goes. */
  limit(last: number): void {
    if (last >= this.#end) return;
    this.#last = last;
    for (let excess = this.#next - 1 - last; excess > 0; ) {
      const chunk = this.#held.pop();
      if (!chunk) break;
      const kept = chunk.subarray(0, Math.max(chunk.length - excess, 0));
      if (kept.length > 0) this.#held.push(kept);
      this.#heldBytes -= chunk.length - kept.length;
      excess -= chunk.length - kept.length;
    }
    if (this.#isComplete()) this.#leave?.();
  }

  /** Offset of its last byte, as far as is known. */
  get last(): number | undefined {
    return this.#last;
  }

  get #end(): number {
    return this.#last ?? Number.POSITIVE_INFINITY;
  }

  /** Hands over what is held, then everything as it comes. */
  attach(sink: RangeSink): void {
    this.#sink = sink;
    this.resume();
  }

  /** The sink takes bytes again. */
  resume(): void {
    this.#isTaken = true;
    while (this.#sink && this.#isTaken) {
      const chunk = this.#held.shift();
      if (!chunk) break;
      this.#heldBytes -= chunk.length;
      this.#isTaken = this.#sink.data(chunk);
    }
    if (this.#held.length === 0 && this.#outcome !== 'running') this.#report();
    else this.#flow();
  }

  /** Ends the request behind it. Nothing more is handed over. */
  destroy(): void {
    this.#sink = undefined;
    this.#held.length = 0;
    this.#abort.abort(new Error('No longer read'));
  }

  async #run(): Promise<void> {
    const options = { ...this.#options, patience: this.#patience };
    const { target } = options;
    const { signal } = this.#abort;
    while (!this.#isComplete()) {
      const isCompared = this.#beginning.bytes === this.#next;
      const answer = await fetchRange(options, { first: this.#next, last: this.#last, isCompared }, signal);
      this.url = answer.url;
      const further = answer.isWhole ? options.onWhole?.() : undefined;
      if (further !== undefined) this.#last = Number.isFinite(further) ? further : undefined;
      if (target.entity.size !== undefined) this.limit(target.entity.size - 1);
      const failure = await this.#pour(answer);
      signal.throwIfAborted();
      if (failure) {
        await backOff(options, failure, signal);
        await this.#untilWanted(signal);
      } else this.#last ??= this.#next - 1;
    }
  }

  /** A client may rest for longer than its source keeps a connection: asking again meanwhile would lose that one too. */
  async #untilWanted(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#goOn = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
    this.#flow();
    await promise;
    this.#goOn = undefined;
    signal.throwIfAborted();
  }

  #isComplete(): boolean {
    return this.#next > this.#end;
  }

  /**
   * Settles when the answer has given all it said or all that is wanted, with the reason when it gave less.
   * @throws Problem 502 when what it sends again is something else
   */
  #pour({ body, skip, length, isWhole, isEndTold }: UpstreamBody): Promise<Error | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Error | undefined>();
    const audit = isEndTold ? undefined : this.#options.audit?.();
    const again = skip > 0 && skip === this.#beginning.bytes ? this.#beginning.compare() : undefined;
    const answerEnd = length === undefined || isWhole ? Number.POSITIVE_INFINITY : this.#next + length - 1;
    const left = () => Math.min(this.#end, answerEnd) - this.#next + 1;
    let before = skip;
    this.#body = body;
    // Its end is still read, so that the connection can serve the next request.
    const leave = () => {
      this.#body = undefined;
      this.#leave = undefined;
      resolve(undefined);
      body.resume();
    };
    this.#leave = leave;

    body.on('data', (data: Buffer) => {
      const passed = Math.min(before, data.length);
      before -= passed;
      audit?.update(data);
      if (passed > 0) again?.update(data.subarray(0, passed));
      if (passed > 0 && before === 0 && again?.isSame() === false) {
        reject(problems.fetchFailed(new UpstreamError('The source has other bytes now')));
        body.destroy();
        return;
      }
      const room = Math.max(left(), 0);
      // As it is where all of it is wanted: one object less for each of many thousands.
      const chunk = passed === 0 && data.length <= room ? data : data.subarray(passed, passed + room);
      // More than was wanted: the rest is not, and who sends more than was said is not trusted with another request.
      if (data.length - passed > chunk.length) body.destroy();
      if (chunk.length > 0) this.#take(chunk);
      if (left() <= 0) leave();
    });
    finished(body, (error) => {
      const isShort = before > 0 || (left() > 0 && Number.isFinite(left()));
      const missing = isShort ? 'The source sent less than it said' : audit?.missing();
      resolve(error ?? (missing === undefined ? undefined : new UpstreamError(missing)));
    });
    if (left() <= 0) leave();
    else this.#flow();
    return promise;
  }

  #take(chunk: Buffer): void {
    if (this.#beginning.bytes === this.#next && !hasValidator(this.#options.target.entity)) this.#beginning.add(chunk);
    this.#next += chunk.length;
    this.#progress += chunk.length;
    if (this.#progress >= PROGRESS_BYTES || this.#isComplete()) {
      this.#progress = 0;
      this.#patience.failures = 0;
    }
    if (this.#sink && this.#isTaken && this.#held.length === 0) {
      this.#isTaken = this.#sink.data(chunk);
    } else {
      this.#held.push(chunk);
      this.#heldBytes += chunk.length;
    }
    this.#begun.resolve();
    this.#options.onBytes?.(chunk.length);
    this.#flow();
  }

  /** The body flows while someone takes its bytes or there is room to hold them. */
  #flow(): void {
    const isWanted = this.#sink ? this.#isTaken : this.#heldBytes < this.#options.bufferLimitBytes;
    if (isWanted) {
      this.#body?.resume();
      this.#goOn?.();
    } else this.#body?.pause();
  }

  #settle(outcome: 'complete' | Error): void {
    this.#outcome = outcome;
    this.#body = undefined;
    if (outcome === 'complete') this.#begun.resolve();
    else this.#begun.reject(outcome);
    this.#options.onSettled?.();
    if (this.#held.length === 0) this.#report();
  }

  #report(): void {
    const sink = this.#sink;
    if (!sink || this.#outcome === 'running') return;
    this.#sink = undefined;
    if (this.#outcome === 'complete') sink.end();
    else sink.fail(this.#outcome);
  }
}
