import { useEffect, useState } from 'preact/hooks';
import { useObservable, usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';

/** Whether the browser reports a connection. */
function useOnline(): boolean {
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    addEventListener('online', look);
    addEventListener('offline', look);
    // It may have changed between rendering and listening.
    look();
    return () => {
      removeEventListener('online', look);
      removeEventListener('offline', look);
    };
  }, []);
  return isOnline;
}

/** A page-wide notice while the browser is offline. */
export const Banner = () => {
  const { texts, session } = usePage();
  const isOnline = useOnline();
  const outcome = useObservable(session.outcome);
  // The notice of a failed link says so, with what to do.
  const isSaid = outcome.phase === 'failed' && outcome.failure.kind === 'offline';
  return (
    <div role="status">
      {!isOnline && !isSaid && (
        <p class="banner floating">
          <Icon name="offline" />
          {texts.t('app.offline')}
        </p>
      )}
    </div>
  );
};
