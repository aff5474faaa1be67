import type { EventLoopLoad } from './event-loop-load.ts';

/**
 * How many connections to read from at once: one, or the most there may be. More than one only while the client waits
 * for the source and they bring more: that is what a source that throttles each of them looks like.
 */
export interface AdaptiveParallelism {
  readonly count: number;
  /** Bytes of the next part that are worth having before its turn: none while it is not the source that is waited for. */
  readonly lead: number;
  /** Milliseconds so far in which the client took nothing. */
  readonly rested: number;
  /** Notes bytes that came from the source. */
  received(bytes: number): void;
  /** Notes that the client stopped taking bytes, or takes them again. */
  blocked(isBlocked: boolean): void;
  /** The source complained: one connection from now on. */
  settle(): void;
}

/** Bytes per millisecond from which one connection is enough. */
const ENOUGH = 32_768;
/** Milliseconds of a measurement: long enough that where ranges begin and end does not matter. */
const WINDOW = 250;
/** Part of a measurement in which the client took nothing: from there on the client is the slower one. */
const CLIENT_BOUND = 0.2;
/** Bytes of a lead, until it is known who waits, and while the client waits for the source. */
const FIRST_LEAD = 128 * 1024;
const LEAD = 512 * 1024;
/** What more connections must bring, against one that overlaps with the next at times. */
const WORTH = 1.4;

export function createAdaptiveParallelism(most: number, { now, isBusy }: EventLoopLoad): AdaptiveParallelism {
  let count = 1;
  let settled = most <= 1;
  /** What one connection brought. */
  let before = 0;
  /** The first measurement, and the first after a change, holds what was before. */
  let skip = true;
  let window = { since: now(), bytes: 0, rested: 0 };
  let blockedSince: number | undefined;
  let restedBefore = 0;
  let lead = FIRST_LEAD;

  const change = (to: number) => {
    skip = to > count;
    count = to;
  };

  const rested = () => restedBefore + (blockedSince === undefined ? 0 : now() - blockedSince);

  const decide = (elapsed: number) => {
    const rate = window.bytes / elapsed;
    const waitsForSource = !isBusy() && (rested() - window.rested) / elapsed <= CLIENT_BOUND;
    lead = waitsForSource ? LEAD : 0;
    if (settled) return;
    if (!waitsForSource || (count === 1 && rate > ENOUGH)) change(1);
    else if (skip) skip = false;
    else if (count === 1) {
      before = rate;
      change(most);
    } else if (rate < before * WORTH) {
      settled = true;
      change(1);
    }
  };

  return {
    get count() {
      return count;
    },
    get lead() {
      return lead;
    },
    get rested() {
      return rested();
    },
    received(bytes) {
      window.bytes += bytes;
      const at = now();
      const elapsed = at - window.since;
      if (elapsed < WINDOW) return;
      decide(elapsed);
      window = { since: at, bytes: 0, rested: rested() };
    },
    blocked(isBlocked) {
      restedBefore = rested();
      blockedSince = isBlocked ? now() : undefined;
    },
    settle() {
      settled = true;
      count = 1;
    },
  };
}
