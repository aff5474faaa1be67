import { useState } from 'preact/hooks';

const retained = new WeakMap<object, Map<string, unknown>>();

/** `useState` whose value lives as long as `owner`, so that returning to a page restores it. */
export function useRetainedState<T>(owner: object, name: string, initial: () => T): [T, (value: T) => void] {
  const shelf = retained.get(owner) ?? new Map<string, unknown>();
  retained.set(owner, shelf);
  const [value, setValue] = useState(() => (shelf.has(name) ? (shelf.get(name) as T) : initial()));
  const keep = (next: T) => {
    shelf.set(name, next);
    setValue(() => next);
  };
  return [value, keep];
}
