import { useState } from 'preact/hooks';

const shelves = new WeakMap<object, Map<string, unknown>>();

/** As `useState`, and kept beside its owner for as long as that is there: who comes back finds it as it was. */
export function useKept<T>(owner: object, name: string, initial: () => T): [T, (value: T) => void] {
  const shelf = shelves.get(owner) ?? new Map<string, unknown>();
  shelves.set(owner, shelf);
  const [value, setValue] = useState(() => (shelf.has(name) ? (shelf.get(name) as T) : initial()));
  const keep = (next: T) => {
    shelf.set(name, next);
    setValue(() => next);
  };
  return [value, keep];
}
