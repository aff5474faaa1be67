import { isOnline } from '../../api/index.ts';
import { usePage } from '../context.ts';
import { Button, useLazy } from '../controls/index.ts';
import type { Outcome } from '../session.ts';
import { Notice } from './notice.tsx';

// Loaded while the first link is being resolved: the start page does without it.
const loadShownResult = async () => (await import('./shown-result.tsx')).ShownResult;

/** The outcome of the link in the field. */
export const Result = ({ outcome }: { readonly outcome: Outcome }) => {
  const { loaded: ShownResult, error, retry } = useLazy(loadShownResult);
  // With a key: it is announced again after each phase, of which the announcer says that there is a result.
  if (error) return <UnloadedNotice key={outcome.phase} onRetry={retry} />;
  const isWaiting = outcome.phase === 'resolving' && !outcome.waiting;
  return ShownResult && !isWaiting ? <ShownResult outcome={outcome} /> : <Skeleton />;
};

/** In place of what could not be loaded: the code of a result, or of the player. */
export const UnloadedNotice = ({ onRetry }: { readonly onRetry: () => void }) => {
  const { t } = usePage().texts;
  const word = isOnline() ? 'unreachable' : 'offline';
  // After a deployment the code has another address, which the page has when it is loaded again.
  const again = () => (isOnline() ? location.reload() : onRetry());
  return (
    <Notice look="bad" icon="offline" title={t(`failure.${word}`)} what={t(`failure.${word}.what`)} onRetry={again} />
  );
};

/** In place of a result while its link is being resolved. What kind of result it will be is not known. */
const Skeleton = () => {
  const { t } = usePage().texts;
  return (
    <>
      <div class="loading">
        <p>{t('field.loading')}</p>
        <Button look="small" icon="close" onClick={() => location.assign('./')}>
          {t('action.cancel')}
        </Button>
      </div>
      <div aria-hidden="true">
        <span class="skeleton line title" />
        <span class="skeleton line short" />
        {Array.from({ length: 6 }, (_, row) => (
          <span key={row} class="skeleton row" />
        ))}
      </div>
    </>
  );
};
