import { Problem, problems, toStreamProblem } from '../../core/api/index.ts';
import { createSingleFlight } from '../../core/concurrency/index.ts';
import { CapacityExceeded, InMaintenance, NotFound, UrlExpired } from '../../core/errors/index.ts';
import type { Resource, Track } from '../../core/state/index.ts';

/** Where a track is at the moment. `value` is what was read there: nothing for a file, the segments of a playlist. */
export interface ResolvedLocation<Value> {
  readonly track: Track;
  readonly value: Value;
  /** Counts the moves, so that nobody renews what another has renewed already. */
  readonly generation: number;
}

/** The place of one track, which moves when its URLs expire. */
export interface TrackLocator<Value> {
  /** Where it is, as far as is known: renewed first when its expiry has passed. */
  current(signal: AbortSignal): Promise<ResolvedLocation<Value>>;
  /**
   * Resolves again, once for everyone who asks for the same move.
   * @param generation of the place that failed
   * @throws Problem 404 when the source or the format is gone, or when renewing does not help; 502 otherwise
   */
  renew(generation: number, isGone: boolean, signal: AbortSignal): Promise<void>;
  /** Looks again at the same place: a live source may have more. */
  reload(signal: AbortSignal): Promise<ResolvedLocation<Value>>;
  /** Notes that bytes came: the next renewal counts as the first again. */
  progressed(): void;
  /** The track as it is known now, without looking further. */
  track(): Track;
}

export interface TrackLocatorOptions<Value> {
  readonly resource: Resource;
  readonly track: Track;
  /** Reads what stands at a place. Throwing `Expired` asks for a renewal. */
  readonly load: (track: Track, signal: AbortSignal) => Promise<Value>;
  readonly refresh: (resource: Resource, signal?: AbortSignal) => Promise<Resource>;
  /** What is at the place came with the resolve: looking again means resolving again. @default false */
  readonly isResolved?: boolean;
  /** Renewals in a row without progress. */
  readonly renewals: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export function createTrackLocator<Value>(options: TrackLocatorOptions<Value>): TrackLocator<Value> {
  const { load, refresh, renewals, now, isResolved = false } = options;
  let { resource, track } = options;
  let place: ResolvedLocation<Value> | undefined;
  let generation = 0;
  let spent = 0;
  /** A URL that is new and expired all the same says nothing by its expiry. */
  let isExpiryKnown = true;

  const isExpired = () => isExpiryKnown && isPast(track, now());

  const move = async (signal: AbortSignal) => {
    if (spent >= renewals) throw problems.fetchFailed(new Error('Resolving again does not help'));
    spent += 1;
    resource = await refresh(resource, signal).catch((error: unknown) => {
      throw asStreamProblem(error);
    });
    const found = resource.tracks.find(({ formatId }) => formatId === track.formatId);
    if (!found) throw problems.notFound(new Error('The format is gone'));
    if (found.delivery !== track.delivery) throw problems.fetchFailed(new Error('The format is sent another way now'));
    track = found;
    isExpiryKnown = !isPast(track, now());
    generation += 1;
    place = undefined;
  };

  const settle = async (signal: AbortSignal) => {
    if (isExpired()) await move(signal);
    for (;;) {
      try {
        place = { track, value: await load(track, signal), generation };
        return;
      } catch (error) {
        if (!(error instanceof UrlExpired)) throw error;
        if (spent >= renewals) throw failureOf(error.gone);
        await move(signal);
      }
    }
  };

  const flights = createSingleFlight<void>();
  const settleOnce = (signal: AbortSignal) => flights('settle', settle, signal);
  const renew = async (signal: AbortSignal) => {
    await move(signal);
    await settle(signal);
  };
  const renewOnce = (signal: AbortSignal) => flights('renew', renew, signal);

  return {
    async current(signal) {
      while (!place || isExpired()) await (place ? renewOnce(signal) : settleOnce(signal));
      return place;
    },
    async renew(failed, isGone, signal) {
      if (failed !== generation) return;
      if (spent >= renewals) throw failureOf(isGone);
      await renewOnce(signal);
    },
    async reload(signal) {
      await (isResolved ? renewOnce(signal) : settleOnce(signal));
      spent = 0;
      return this.current(signal);
    },
    progressed() {
      spent = 0;
    },
    track: () => track,
  };
}

const failureOf = (isGone: boolean) => (isGone ? problems.notFound : problems.fetchFailed)(new UrlExpired(isGone));

/** A stream answers 404 or 502: what a resolve would call not deliverable is a failure here. */
export function asStreamProblem(error: unknown): Problem {
  const isKnown = [Problem, NotFound, InMaintenance, CapacityExceeded].some((known) => error instanceof known);
  return isKnown ? toStreamProblem(error) : problems.fetchFailed(error);
}

const isPast = ({ urlExpiresAt }: Track, now: number) => urlExpiresAt !== undefined && urlExpiresAt * 1000 <= now;
