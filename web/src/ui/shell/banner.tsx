import { useObservable, usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';
import { useOnline } from './use-online.ts';

/** Page-wide notices: offline, or another instance. */
export const Banner = () => {
  const { texts, instance, session, forgetInstance } = usePage();
  const { t } = texts;
  const isOnline = useOnline();
  const outcome = useObservable(session.outcome);
  // The notice of a failed link says so, with what to do.
  const isSaid = outcome.phase === 'failed' && outcome.failure.kind === 'offline';
  const host = new URL(instance.base).host;
  return (
    <div role="status">
      {!isOnline && !isSaid && (
        <p class="banner floating">
          <Icon name="offline" />
          {t('app.offline')}
        </p>
      )}
      {instance.isRefused && <p class="banner">{t('app.otherInstance.refused', { host })}</p>}
      {instance.isOther && (
        <p class="banner">
          {t('app.otherInstance', { host })}
          <button type="button" class="link" onClick={forgetInstance}>
            {t('app.otherInstance.forget')}
          </button>
        </p>
      )}
    </div>
  );
};
