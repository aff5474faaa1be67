import { createSingleFlight } from '@reelay/concurrency';
import { UpstreamError, UrlExpired } from './errors.ts';
import type { SourceLimits } from './limits.ts';
import type { SourceTrack } from './track.ts';
import type { Location, RangePolicy, UpstreamTarget } from './upstream-request.ts';
import { unknownEntity } from './upstream-request.ts';

/** Where a track is found at present. */
export interface ResolvedLocation<Value> extends Omit<Location, 'url'> {
  /** What `load` read there. */
  readonly value: Value;
}

export interface TrackLocatorOptions<Value> {
  readonly track: SourceTrack;
  /** Reads what is at a location. @throws UrlExpired to request a renewal */
  readonly load: (track: SourceTrack, signal: AbortSignal) => Promise<Value>;
  /** `load` reads what renewing returned, so that reloading means renewing. @default false */
  readonly isRenewed?: boolean;
  readonly limits: Pick<SourceLimits, 'maxRenewals'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Locates one track, whose URLs expire. */
export class TrackLocator<Value> {
  readonly #options: TrackLocatorOptions<Value>;
  readonly #flights = createSingleFlight<void>();
  #track: SourceTrack;
  #location: ResolvedLocation<Value> | undefined;
  #generation = 0;
  /** Since bytes, or new segments of a live list, have arrived: of all readers together. */
  #renewals = 0;
  /** False after a renewal that returned a URL whose stated expiry has passed: the statement is wrong. */
  #isExpiryReliable = true;

  constructor(options: TrackLocatorOptions<Value>) {
    this.#options = options;
    this.#track = options.track;
  }

  /** The track as last renewed. */
  get track(): SourceTrack {
    return this.#track;
  }

  /** What was loaded last; undefined while it is being renewed. */
  get value(): Value | undefined {
    return this.#location?.value;
  }

  /** The present location; renewed first when its expiry has passed. */
  async current(signal: AbortSignal): Promise<ResolvedLocation<Value>> {
    while (!this.#location || this.#isExpired()) await (this.#location ? this.#renew(signal) : this.#locate(signal));
    return this.#location;
  }

  /**
   * Renews, once for all concurrent callers.
   * @param generation of the location that failed
   * @throws UrlExpired when renewing has not helped; UpstreamError, and what renewing throws
   */
  async renew(generation: number, isGone: boolean, signal: AbortSignal): Promise<void> {
    if (generation !== this.#generation) return;
    if (!this.#isRenewable) throw new UrlExpired(isGone);
    await this.#renew(signal);
  }

  /** Loads the same location again: the list of a live source may have grown. */
  async reload(signal: AbortSignal): Promise<ResolvedLocation<Value>> {
    await (this.#options.isRenewed && this.#track.renew ? this.#renew(signal) : this.#locate(signal));
    this.#renewals = 0;
    return this.current(signal);
  }

  /** Notes that bytes arrived: the renewals until then no longer count towards the limit. */
  addProgress(): void {
    this.#renewals = 0;
  }

  /** The file of the track, or the entity at the URL that follows from the present location. */
  target(policy: RangePolicy, urlOf = ({ track }: ResolvedLocation<Value>): string => track.url): UpstreamTarget {
    return {
      ...policy,
      locate: async (signal) => {
        const location = await this.current(signal);
        return { ...location, url: urlOf(location) };
      },
      renew: ({ generation }, isGone, signal) => this.renew(generation, isGone, signal),
      entity: unknownEntity,
      seen: {},
    };
  }

  get #isRenewable(): boolean {
    return this.#track.renew !== undefined && !this.#isExhausted;
  }

  get #isExhausted(): boolean {
    return this.#renewals >= this.#options.limits.maxRenewals;
  }

  #isExpired(): boolean {
    return this.#isExpiryReliable && isPast(this.#track, this.#options.now());
  }

  #locate(signal: AbortSignal): Promise<void> {
    return this.#flights('locate', (shared) => this.#load(shared), signal);
  }

  #renew(signal: AbortSignal): Promise<void> {
    const renew = async (shared: AbortSignal) => {
      await this.#resolveAgain(shared);
      await this.#load(shared);
    };
    return this.#flights('renew', renew, signal);
  }

  async #load(signal: AbortSignal): Promise<void> {
    if (this.#isExpired()) await this.#resolveAgain(signal);
    for (;;) {
      try {
        const track = this.#track;
        this.#location = { track, value: await this.#options.load(track, signal), generation: this.#generation };
        return;
      } catch (error) {
        if (!(error instanceof UrlExpired) || !this.#isRenewable) throw error;
        await this.#resolveAgain(signal);
      }
    }
  }

  async #resolveAgain(signal: AbortSignal): Promise<void> {
    if (this.#isExhausted) throw new UpstreamError(`URL still expired after ${this.#renewals} renewals`);
    this.#renewals += 1;
    this.#track = (await this.#track.renew?.(signal)) ?? this.#track;
    this.#isExpiryReliable = !isPast(this.#track, this.#options.now());
    this.#generation += 1;
    this.#location = undefined;
  }
}

const isPast = ({ renew, urlExpiresAt }: SourceTrack, now: number) =>
  renew !== undefined && urlExpiresAt !== undefined && urlExpiresAt * 1000 <= now;
