import { createSingleFlight } from '../../core/concurrency/index.ts';
import { NotFound, UpstreamError, UrlExpired } from '../../core/errors/index.ts';
import type { Resource, Track } from '../../core/state/index.ts';

/** Where a track is found at present. */
export interface ResolvedLocation<Value> {
  readonly track: Track;
  /** What `load` read there. */
  readonly value: Value;
  /** Counts renewals: a renewal requested for an earlier generation has been done already. */
  readonly generation: number;
}

/** Locates one track, whose URLs expire. */
export interface TrackLocator<Value> {
  /** The present location; renewed first when its expiry has passed. */
  current(signal: AbortSignal): Promise<ResolvedLocation<Value>>;
  /**
   * Resolves again, once for all concurrent callers.
   * @param generation of the location that failed
   * @throws UrlExpired when renewing has not helped; NotFound when the format is gone; UpstreamError
   */
  renew(generation: number, isGone: boolean, signal: AbortSignal): Promise<void>;
  /** Loads the same location again: the list of a live source may have grown. */
  reload(signal: AbortSignal): Promise<ResolvedLocation<Value>>;
  /** Notes that bytes arrived: the renewals until then no longer count towards the limit. */
  progressed(): void;
  /** The track as last resolved. */
  track(): Track;
}

export interface TrackLocatorOptions<Value> {
  readonly resource: Resource;
  readonly track: Track;
  /** Reads what is at a location. @throws UrlExpired to request a renewal */
  readonly load: (track: Track, signal: AbortSignal) => Promise<Value>;
  readonly refresh: (resource: Resource, signal?: AbortSignal) => Promise<Resource>;
  /** `load` reads what resolving returned, so that reloading means resolving again. @default false */
  readonly isResolved?: boolean;
  /** Consecutive renewals without progress. */
  readonly maxRenewals: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export function createTrackLocator<Value>(options: TrackLocatorOptions<Value>): TrackLocator<Value> {
  const { load, refresh, maxRenewals, now, isResolved = false } = options;
  let { resource, track } = options;
  let location: ResolvedLocation<Value> | undefined;
  let generation = 0;
  let renewals = 0;
  /** False after a renewal that returned a URL whose stated expiry has passed: the statement is wrong. */
  let isExpiryReliable = true;

  const isExpired = () => isExpiryReliable && isPast(track, now());

  const resolveAgain = async (signal: AbortSignal) => {
    if (renewals >= maxRenewals) throw new UpstreamError(`URL still expired after ${renewals} renewals`);
    renewals += 1;
    resource = await refresh(resource, signal);
    const found = resource.tracks.find(({ formatId }) => formatId === track.formatId);
    if (!found) throw new NotFound('The format is no longer available', { reason: 'gone' });
    if (found.delivery !== track.delivery) throw new UpstreamError('The delivery of the format has changed');
    track = found;
    isExpiryReliable = !isPast(track, now());
    generation += 1;
    location = undefined;
  };

  const locate = async (signal: AbortSignal) => {
    if (isExpired()) await resolveAgain(signal);
    for (;;) {
      try {
        location = { track, value: await load(track, signal), generation };
        return;
      } catch (error) {
        if (!(error instanceof UrlExpired) || renewals >= maxRenewals) throw error;
        await resolveAgain(signal);
      }
    }
  };

  const flights = createSingleFlight<void>();
  const locateOnce = (signal: AbortSignal) => flights('locate', locate, signal);
  const renew = async (signal: AbortSignal) => {
    await resolveAgain(signal);
    await locate(signal);
  };
  const renewOnce = (signal: AbortSignal) => flights('renew', renew, signal);

  return {
    async current(signal) {
      while (!location || isExpired()) await (location ? renewOnce(signal) : locateOnce(signal));
      return location;
    },
    async renew(failed, isGone, signal) {
      if (failed !== generation) return;
      if (renewals >= maxRenewals) throw new UrlExpired(isGone);
      await renewOnce(signal);
    },
    async reload(signal) {
      await (isResolved ? renewOnce(signal) : locateOnce(signal));
      renewals = 0;
      return this.current(signal);
    },
    progressed() {
      renewals = 0;
    },
    track: () => track,
  };
}

const isPast = ({ urlExpiresAt }: Track, now: number) => urlExpiresAt !== undefined && urlExpiresAt * 1000 <= now;
