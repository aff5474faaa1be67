import { type Inputs, useEffect, useState } from 'preact/hooks';

/** What was loaded; undefined until then, after a failure, and where `load` starts nothing. @param inputs as for an effect */
export function useLoaded<T>(load: () => Promise<T> | undefined, inputs: Inputs): T | undefined {
  const [loaded, setLoaded] = useState<T>();
  useEffect(() => {
    let isCurrent = true;
    setLoaded(undefined);
    load()?.then(
      (value) => isCurrent && setLoaded(() => value),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, inputs);
  return loaded;
}
