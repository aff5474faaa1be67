import { useState } from 'preact/hooks';
import { usePage } from '../context.ts';
import { useLoaded } from './use-loaded.ts';

export interface Lazy<T> {
  readonly loaded?: T;
  /** Without a connection, or after a deployment. */
  readonly error?: unknown;
  readonly retry: () => void;
}

/** Loads a module's part, and the texts of such parts, once it is wanted, and again when that becomes true after a failure. @param load calls `import()` */
export function useLazy<T>(load: () => Promise<T>, isWanted = true): Lazy<T> {
  const { texts } = usePage();
  const [attempt, setAttempt] = useState(0);
  const start = () =>
    Promise.all([load(), texts.loadLazy()]).then(
      ([loaded]) => ({ loaded }),
      (error) => ({ error }),
    );
  const state = useLoaded<Omit<Lazy<T>, 'retry'>>(() => (isWanted ? start() : undefined), [isWanted, attempt]);
  return { ...state, retry: () => setAttempt(attempt + 1) };
}
