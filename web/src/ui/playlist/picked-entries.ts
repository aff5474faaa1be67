import { useRef } from 'preact/hooks';
import { useRetainedState } from './entries.ts';

interface PickedEntries {
  /** Indexes of entries. */
  readonly picked: ReadonlySet<number>;
  /** @param isRange with the entries between it and the one that was picked before */
  pick(index: number, isPicked: boolean, isRange: boolean): void;
  /** All that are shown. */
  pickAll(isPicked: boolean): void;
}

/**
 * Which entries of a list are selected: all at first.
 * @param owner of the state, as for `useRetainedState`
 * @param shown indexes of the entries that the filter shows, in order
 */
export function usePickedEntries(owner: object, count: number, shown: readonly number[]): PickedEntries {
  const [picked, setPicked] = useRetainedState<ReadonlySet<number>>(
    owner,
    'picked',
    () => new Set(Array.from({ length: count }, (_, index) => index)),
  );
  const before = useRef<number>(undefined);
  const change = (indexes: readonly number[], isPicked: boolean) =>
    setPicked(isPicked ? picked.union(new Set(indexes)) : picked.difference(new Set(indexes)));
  return {
    picked,
    pickAll: (isPicked) => change(shown, isPicked),
    pick(index, isPicked, isRange) {
      change(isRange ? between(shown, before.current ?? index, index) : [index], isPicked);
      before.current = index;
    },
  };
}

/** The indexes from one to another, in either direction, both included. */
export function between(shown: readonly number[], one: number, other: number): readonly number[] {
  const ends = [shown.indexOf(one), shown.indexOf(other)].sort((a, b) => a - b);
  const [first = -1, last = -1] = ends;
  return first < 0 ? [other] : shown.slice(first, last + 1);
}

/** Numbers of entries as the API reads them: `1-3,7`. @param numbers ascending */
export function formatNumbers(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const number of numbers) {
    const current = ranges.at(-1);
    if (current?.[1] === number - 1) current[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',');
}
