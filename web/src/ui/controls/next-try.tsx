import type { Waiting } from '../../api/index.ts';
import { usePage } from '../context.ts';
import { useCountdown } from './use-countdown.ts';

/** From so many seconds on nobody wants to reckon in seconds. */
const MINUTE = 60;

/** The time until the next try. Belongs outside of what is read aloud: it changes with each second. */
export const NextTry = ({ waiting }: { readonly waiting: Waiting }) => {
  const { texts, format } = usePage();
  const seconds = useCountdown(waiting);
  if (seconds === 0) return null;
  return (
    <span class="figures">
      {seconds < MINUTE
        ? texts.t('waiting.next', { count: seconds })
        : texts.t('waiting.nextIn', { duration: format.duration(seconds) })}
    </span>
  );
};
