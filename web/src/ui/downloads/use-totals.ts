import { useEffect, useState } from 'preact/hooks';
import { type Download, type DownloadState, hasEnded, progressOf } from '../../download/index.ts';

export interface Totals {
  readonly running: number;
  readonly queued: number;
  readonly paused: number;
  readonly failed: number;
  readonly ended: number;
  /** Mean progress of what has not ended, between 0 and 1. */
  readonly share: number;
}

/** Counts of all downloads by phase, and their overall progress. */
export function useTotals(list: readonly Download[]): Totals {
  const [totals, setTotals] = useState(() => totalsOf(list));
  useEffect(() => {
    const update = () => setTotals((before) => settled(before, totalsOf(list)));
    update();
    const unsubscribe = list.map(({ state }) => state.subscribe(update));
    return () => {
      for (const end of unsubscribe) end();
    };
  }, [list]);
  return totals;
}

function totalsOf(list: readonly Download[]): Totals {
  const states = list.map(({ state }) => state.get());
  const count = (...phases: DownloadState['phase'][]) => states.filter(({ phase }) => phases.includes(phase)).length;
  const shares = states.filter((state) => !hasEnded(state)).map((state) => progressOf(state) ?? 0);
  return {
    running: count('running', 'waiting'),
    queued: count('ready'),
    paused: count('paused'),
    failed: count('failed'),
    ended: states.filter(hasEnded).length,
    // Whole percent: smaller steps would only re-render.
    share: shares.length > 0 ? Math.round((shares.reduce((sum, one) => sum + one, 0) / shares.length) * 100) / 100 : 0,
  };
}

/** The same object while nothing has changed, so that progress ticks do not re-render. */
const settled = (before: Totals, after: Totals): Totals =>
  (Object.keys(after) as (keyof Totals)[]).every((key) => before[key] === after[key]) ? before : after;
