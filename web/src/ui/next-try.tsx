import { useEffect, useState } from 'preact/hooks';
import type { Waiting } from '../api/index.ts';
import { usePage } from './context.ts';

/** Longer delays are shown in minutes. */
const MINUTE_SECONDS = 60;

/** Countdown to the next attempt. Keep it outside of live regions: it changes every second. */
export const NextTry = ({ waiting }: { readonly waiting: Waiting }) => {
  const { t, format } = usePage();
  const seconds = useCountdown(waiting);
  if (seconds === 0) return null;
  const { reason } = waiting;
  return (
    <span class="figures">
      {reason === 'delayed' || reason === 'maintenance'
        ? t(reason === 'delayed' ? 'waiting.starts' : 'waiting.looks', { count: seconds })
        : seconds < MINUTE_SECONDS
          ? t('waiting.next', { count: seconds })
          : t('waiting.nextIn', { duration: format.duration(seconds) })}
    </span>
  );
};

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
