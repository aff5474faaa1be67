import { useEffect, useState } from 'preact/hooks';

export interface Lazy<T> {
  readonly loaded?: T;
  /** Without a connection and a cached copy, or after a deployment. */
  readonly error?: unknown;
  readonly retry: () => void;
}

/** Loads a module's part once it is wanted. @param load calls `import()` */
export function useLazy<T>(load: () => Promise<T>, isWanted = true): Lazy<T> {
  const [state, setState] = useState<{ loaded?: T; error?: unknown }>({});
  const start = () => {
    setState({});
    load().then(
      (loaded) => setState({ loaded }),
      (error) => setState({ error }),
    );
  };
  useEffect(() => {
    if (isWanted) start();
  }, [isWanted]);
  return { ...state, retry: start };
}
