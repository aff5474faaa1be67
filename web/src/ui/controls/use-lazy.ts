import { useEffect, useState } from 'preact/hooks';
import { usePage } from '../context.ts';

export interface Lazy<T> {
  readonly loaded?: T;
  /** Without a connection, or after a deployment. */
  readonly error?: unknown;
  readonly retry: () => void;
}

/** Loads a module's part, and the texts of such parts, once it is wanted, and again when that becomes true after a failure. @param load calls `import()` */
export function useLazy<T>(load: () => Promise<T>, isWanted = true): Lazy<T> {
  const [state, setState] = useState<{ loaded?: T; error?: unknown }>({});
  const { texts } = usePage();
  const start = () => {
    setState({});
    Promise.all([load(), texts.loadLazy()]).then(
      ([loaded]) => setState({ loaded }),
      (error) => setState({ error }),
    );
  };
  useEffect(() => {
    if (isWanted && !state.loaded) start();
  }, [isWanted]);
  return { ...state, retry: start };
}
