import { useRef } from 'preact/hooks';
import { useRetainedState } from './use-retained-state.ts';

export interface Selection {
  /** Indexes of entries. */
  readonly picked: ReadonlySet<number>;
  /** @param isRange with the entries between it and the one that was picked before */
  pick(index: number, isPicked: boolean, isRange?: boolean): void;
  /** All that are shown. */
  pickAll(isPicked: boolean): void;
  /** Arrows, Home and End move between check boxes, with Shift they select too; Ctrl+A selects all. */
  onKeyDown(event: KeyboardEvent): void;
}

/**
 * Which entries of a list are selected: all at first.
 * @param owner of the state, as for `useRetainedState`
 * @param shown indexes of the entries that the filter shows, in order; the value of a check box is its index
 */
export function useSelection(owner: object, count: number, shown: readonly number[]): Selection {
  const [picked, setPicked] = useRetainedState<ReadonlySet<number>>(
    owner,
    'picked',
    () => new Set(Array.from({ length: count }, (_, index) => index)),
  );
  const before = useRef<number>(undefined);
  const setAll = (indexes: readonly number[], isPicked: boolean) => setPicked(withAll(picked, indexes, isPicked));
  const pickAll = (isPicked: boolean) => setAll(shown, isPicked);
  return {
    picked,
    pickAll,
    pick(index, isPicked, isRange = false) {
      setAll(isRange ? between(shown, before.current ?? index, index) : [index], isPicked);
      before.current = index;
    },
    onKeyDown(event) {
      const { key, target, currentTarget, shiftKey, altKey } = event;
      const isCommand = event.ctrlKey || event.metaKey;
      if (!(target instanceof HTMLInputElement && currentTarget instanceof Element) || altKey) return;
      if (isCommand && key === 'a') {
        event.preventDefault();
        pickAll(true);
      }
      const boxes = [...currentTarget.querySelectorAll<HTMLInputElement>('.entry-select input')];
      const at = boxes.indexOf(target);
      const next = boxes[STEPS[key]?.(at, boxes.length) ?? -1];
      if (isCommand || at < 0 || !next) return;
      event.preventDefault();
      next.focus();
      before.current = Number(next.value);
      if (shiftKey) setAll(between(shown, Number(target.value), before.current), target.checked);
    },
  };
}

const STEPS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

function withAll(picked: ReadonlySet<number>, indexes: readonly number[], isPicked: boolean): ReadonlySet<number> {
  const next = new Set(picked);
  for (const index of indexes) {
    if (isPicked) next.add(index);
    else next.delete(index);
  }
  return next;
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
