import type { Waiting } from '../../api/index.ts';
import { usePage } from '../context.ts';
import { useCountdown } from './use-countdown.ts';

/** From here on the delay is shown in minutes. */
const MINUTE_SECONDS = 60;

/** Countdown to the next attempt. Keep it outside of live regions: it changes every second. */
export const NextTry = ({ waiting }: { readonly waiting: Waiting }) => {
  const { texts, format } = usePage();
  const seconds = useCountdown(waiting);
  if (seconds === 0) return null;
  const { reason } = waiting;
  return (
    <span class="figures">
      {reason === 'delayed' || reason === 'maintenance'
        ? texts.t(reason === 'delayed' ? 'waiting.starts' : 'waiting.looks', { count: seconds })
        : seconds < MINUTE_SECONDS
          ? texts.t('waiting.next', { count: seconds })
          : texts.t('waiting.nextIn', { duration: format.duration(seconds) })}
    </span>
  );
};
