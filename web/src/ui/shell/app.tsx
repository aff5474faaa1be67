import { useEffect, useRef } from 'preact/hooks';
import { useObservable, usePage } from '../context.ts';
import { useFocusFallback, useLazy } from '../controls/index.ts';
import { Announcer } from './announcer.tsx';
import { Footer } from './footer.tsx';
import { Header, Hero } from './header.tsx';
import { Result, UnloadedNotice } from './result.tsx';
import { ShareOptions } from './share-options.tsx';
import { useLocation } from './use-location.ts';

const loadHistoryList = async () => (await import('./history-list.tsx')).HistoryList;
const loadPlayerHost = async () => (await import('../player/index.ts')).PlayerHost;

/** The page at `/`. */
export const App = () => {
  const page = usePage();
  const { texts, session, playback, history } = page;
  const { t } = texts;
  const outcome = useObservable(session.outcome);
  useLocation(page);
  const resource = outcome.phase === 'resolved' ? outcome.resource : undefined;
  const title = resource?.title ?? resource?.mediaItems[0]?.title;
  useEffect(() => {
    document.title = title ? t('app.title', { title }) : t('app.name');
  }, [title, texts]);
  const isPlaying = useObservable(playback.current) !== undefined;
  const { loaded: PlayerHost, error, retry } = useLazy(loadPlayerHost, isPlaying);
  const isIdle = outcome.phase === 'idle';
  const isResolving = outcome.phase === 'resolving';
  const hasHistory = useObservable(history.entries).length > 0;
  const { loaded: HistoryList } = useLazy(loadHistoryList, isIdle && hasHistory);
  const main = useRef<HTMLElement>(null);
  const result = useRef<HTMLDivElement>(null);
  useFocusFallback(main, () => result.current ?? main.current);
  return (
    <div class="page">
      <Header isMoving={isResolving} />
      <main class="wrap" ref={main} tabIndex={-1}>
        <Hero outcome={outcome} />
        <Announcer />
        {error && <UnloadedNotice onRetry={retry} />}
        {!isIdle && (
          <div class="result" ref={result} tabIndex={-1} aria-busy={isResolving}>
            <Result outcome={outcome} />
          </div>
        )}
        {PlayerHost && <PlayerHost />}
        {isIdle && <ShareOptions />}
        {isIdle && HistoryList && <HistoryList />}
      </main>
      <Footer />
    </div>
  );
};
