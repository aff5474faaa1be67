import { useEffect, useState } from 'preact/hooks';
import { type Download, hasEnded } from '../../download/index.ts';

/** Number of downloads that have not ended. */
export function useRunning(list: readonly Download[]): number {
  const count = () => list.filter(({ state }) => !hasEnded(state.get())).length;
  const [running, setRunning] = useState(count);
  useEffect(() => {
    const look = () => setRunning(count());
    look();
    const endings = list.map(({ state }) => state.subscribe(look));
    return () => {
      for (const end of endings) end();
    };
  }, [list]);
  return running;
}
