import { createSingleFlight } from '@reelay/concurrency';
import { NotFound, UpstreamError, UrlExpired } from '../../core/errors/index.ts';
import type { Resource, Track } from '../../core/state/index.ts';
import { Renewals } from './attempts.ts';
import { unknownEntity } from './classify-response.ts';
import type { SourceLimits } from './limits.ts';
import type { RangePolicy, UpstreamTarget } from './upstream-request.ts';

/** Where a track is found at present. */
export interface ResolvedLocation<Value> {
  readonly track: Track;
  /** What `load` read there. */
  readonly value: Value;
  /** Counts renewals: a renewal requested for an earlier generation has been done already. */
  readonly generation: number;
}

export interface TrackLocatorOptions<Value> {
  readonly resource: Resource;
  readonly track: Track;
  /** Reads what is at a location. @throws UrlExpired to request a renewal */
  readonly load: (track: Track, signal: AbortSignal) => Promise<Value>;
  readonly refresh: (resource: Resource, signal?: AbortSignal) => Promise<Resource>;
  /** `load` reads what resolving returned, so that reloading means resolving again. @default false */
  readonly isResolved?: boolean;
  readonly limits: Pick<SourceLimits, 'maxRenewals'>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Locates one track, whose URLs expire. */
export class TrackLocator<Value> {
  readonly #options: TrackLocatorOptions<Value>;
  readonly #renewals: Renewals;
  readonly #flights = createSingleFlight<void>();
  #resource: Resource;
  #track: Track;
  #location: ResolvedLocation<Value> | undefined;
  #generation = 0;
  /** False after a renewal that returned a URL whose stated expiry has passed: the statement is wrong. */
  #isExpiryReliable = true;

  constructor(options: TrackLocatorOptions<Value>) {
    this.#options = options;
    this.#renewals = new Renewals(options.limits);
    this.#resource = options.resource;
    this.#track = options.track;
  }

  /** The track as last resolved. */
  get track(): Track {
    return this.#track;
  }

  /** The present location; renewed first when its expiry has passed. */
  async current(signal: AbortSignal): Promise<ResolvedLocation<Value>> {
    while (!this.#location || this.#isExpired()) await (this.#location ? this.#renew(signal) : this.#locate(signal));
    return this.#location;
  }

  /**
   * Resolves again, once for all concurrent callers.
   * @param generation of the location that failed
   * @throws UrlExpired when renewing has not helped; NotFound when the format is gone; UpstreamError
   */
  async renew(generation: number, isGone: boolean, signal: AbortSignal): Promise<void> {
    if (generation !== this.#generation) return;
    if (this.#renewals.isExhausted) throw new UrlExpired(isGone);
    await this.#renew(signal);
  }

  /** Loads the same location again: the list of a live source may have grown. */
  async reload(signal: AbortSignal): Promise<ResolvedLocation<Value>> {
    await (this.#options.isResolved ? this.#renew(signal) : this.#locate(signal));
    this.#renewals.reset();
    return this.current(signal);
  }

  /** Notes that bytes arrived: the renewals until then no longer count towards the limit. */
  addProgress(): void {
    this.#renewals.reset();
  }

  /** An entity of the track, at the URL that follows from the present location. */
  target(urlOf: (location: ResolvedLocation<Value>) => string, policy: RangePolicy = {}): UpstreamTarget {
    return {
      ...policy,
      locate: async (signal) => {
        const location = await this.current(signal);
        return { url: urlOf(location), track: location.track, generation: location.generation };
      },
      renew: ({ generation }, isGone, signal) => this.renew(generation, isGone, signal),
      entity: unknownEntity,
    };
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
        if (!(error instanceof UrlExpired) || this.#renewals.isExhausted) throw error;
        await this.#resolveAgain(signal);
      }
    }
  }

  async #resolveAgain(signal: AbortSignal): Promise<void> {
    this.#renewals.add();
    const { delivery } = this.#track;
    this.#resource = await this.#options.refresh(this.#resource, signal);
    const found = findTrack(this.#resource, this.#track);
    if (!found) throw new NotFound('The format is no longer available', { reason: 'gone' });
    if (found.delivery !== delivery) throw new UpstreamError('The delivery of the format has changed');
    this.#track = found;
    this.#isExpiryReliable = !isPast(found, this.#options.now());
    this.#generation += 1;
    this.#location = undefined;
  }
}

/** A track as a later resolve has it. */
export const findTrack = ({ tracks }: Pick<Resource, 'tracks'>, { formatId }: Track): Track | undefined =>
  tracks.find((track) => track.formatId === formatId);

const isPast = ({ urlExpiresAt }: Track, now: number) => urlExpiresAt !== undefined && urlExpiresAt * 1000 <= now;
