import type { DashFragment } from './dash-timeline.ts';

/**
 * The fragments of a DASH representation as a resource keeps them: two values take a fraction of the memory and of the time
 * to read and write that as many objects take.
 */
export interface FragmentList {
  /** Absolute, or relative to the base of the list; separated by line feeds. */
  readonly urls: string;
  /** Durations in the order of the fragments, as pairs: how many fragments, and microseconds of each of them. */
  readonly durations: readonly number[];
}

const MICROSECONDS = 1_000_000;

/** @param fragments at least one */
export function packFragments(fragments: readonly DashFragment[]): FragmentList {
  const durations: number[] = [];
  for (const { seconds } of fragments) {
    const microseconds = Math.round(seconds * MICROSECONDS);
    const last = durations.length - 2;
    if (durations[last + 1] === microseconds) durations[last] = (durations[last] ?? 0) + 1;
    else durations.push(1, microseconds);
  }
  // WHATWG URL parsing removes them too.
  const urls = fragments.map(({ url }) => url.replace(/[\t\n\r]/g, '')).join('\n');
  return { urls, durations };
}

/** The fragments, one after the other: so many that a caller may return to the event loop in between. */
export function* unpackFragments({ urls, durations }: FragmentList): Generator<DashFragment> {
  let pair = 0;
  let used = 0;
  for (const url of urls.split('\n')) {
    if (used === durations[pair]) [pair, used] = [pair + 2, 0];
    used += 1;
    yield { url, seconds: (durations[pair + 1] ?? 0) / MICROSECONDS };
  }
}

/** The URL of the first fragment. */
export const firstFragmentUrl = ({ urls }: FragmentList): string => urls.split('\n', 1)[0] ?? '';
