import type { Waiting } from '../lib/waiting.ts';
import { usePage } from './context.ts';
import { useCountdown } from './use-countdown.ts';

/** The seconds until the next try. Belongs outside of what is read aloud: it changes with each of them. */
export const NextTry = ({ waiting }: { readonly waiting: Waiting }) => {
  const { t } = usePage().texts;
  const seconds = useCountdown(waiting);
  return seconds > 0 ? <span class="figures">{t('waiting.next', { count: seconds })}</span> : null;
};
