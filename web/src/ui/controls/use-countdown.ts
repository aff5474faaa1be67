import { useEffect, useState } from 'preact/hooks';
import type { Waiting } from '../../api/index.ts';

/** Whole seconds until the next attempt. */
export function useCountdown(waiting: Pick<Waiting, 'retrySeconds'>): number {
  const [seconds, setSeconds] = useState(waiting.retrySeconds);
  useEffect(() => {
    setSeconds(waiting.retrySeconds);
    const timer = setInterval(() => setSeconds((before) => Math.max(0, before - 1)), 1000);
    return () => clearInterval(timer);
  }, [waiting]);
  return seconds;
}
