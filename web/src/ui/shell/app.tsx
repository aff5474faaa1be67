import { useEffect, useRef } from 'preact/hooks';
import { linkOf, type Outcome } from '../app-state.ts';
import { useObservable, usePage } from '../context.ts';
import { useFocusFallback, useLazy } from '../controls/index.ts';
import { Announcer } from './announcer.tsx';
import { Banner } from './banner.tsx';
import { Footer } from './footer.tsx';
import { Header } from './header.tsx';
import { Hero } from './hero.tsx';
import { HistoryList } from './history-list.tsx';
import { Result } from './result.tsx';
import { ShareOptions } from './share-options.tsx';
import { useDrop } from './use-drop.ts';
import { opensElsewhere, useLocation } from './use-location.ts';
import { usePaste } from './use-paste.ts';

const loadPlayerHost = async () => (await import('../player/index.ts')).PlayerHost;

/** The page at `/`. */
export const App = () => {
  const page = usePage();
  const { texts, session, playback } = page;
  const { t } = texts;
  const outcome = useObservable(session.outcome);
  const navigation = useLocation(page);
  const isDropping = useDrop(navigation.openAll);
  usePaste(navigation.openAll);
  const title = outcome.phase === 'resolved' ? titleOf(outcome) : undefined;
  useEffect(() => {
    document.title = title ? t('app.title', { title }) : t('app.name');
  }, [title, texts]);
  const goHome = (event: MouseEvent) => {
    if (opensElsewhere(event)) return;
    event.preventDefault();
    navigation.close();
  };
  const isPlaying = useObservable(playback.current) !== undefined;
  const { loaded: PlayerHost } = useLazy(loadPlayerHost, isPlaying);
  const isIdle = outcome.phase === 'idle';
  const main = useRef<HTMLElement>(null);
  const result = useRef<HTMLDivElement>(null);
  useFocusFallback(main, () => result.current ?? main.current);
  return (
    <div class={isDropping ? 'page dropping' : 'page'}>
      <Banner />
      <Header isMoving={outcome.phase === 'resolving'} onHome={goHome} />
      <main class="wrap" ref={main} tabIndex={-1}>
        <Hero
          isSmall={!isIdle}
          link={linkOf(outcome)}
          text={outcome.phase === 'idle' ? outcome.text : undefined}
          isResolved={outcome.phase === 'resolved'}
          onLinks={navigation.openAll}
          onClear={navigation.close}
        />
        <Announcer />
        {!isIdle && (
          <div class="result" ref={result} tabIndex={-1} aria-busy={outcome.phase === 'resolving'}>
            <Result outcome={outcome} navigation={navigation} />
          </div>
        )}
        {PlayerHost && <PlayerHost onOpen={navigation.reopen} />}
        {isIdle && <ShareOptions />}
        {isIdle && <HistoryList onOpen={navigation.open} />}
      </main>
      <Footer />
    </div>
  );
};

const titleOf = ({ resource }: Extract<Outcome, { phase: 'resolved' }>): string | undefined =>
  resource.title ?? resource.mediaItems?.[0]?.title ?? undefined;
