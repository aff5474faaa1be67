import { useEffect, useRef } from 'preact/hooks';
import {
  bookmarklet,
  linksFromLocation,
  offsetFromLocation,
  pagePath,
  shareableLocation,
  textFromLocation,
} from '../../links.ts';
import { preferenceFromQuality } from '../../renditions/index.ts';
import { createSubject, type Subject } from '../../store.ts';
import { LOCALE_NAMES, LOCALES } from '../../texts.ts';
import { type PageState, useObservable, usePage } from '../context.ts';
import { Button, CopyButton, Icon, Select } from '../controls.tsx';
import { useFocusFallback, useLazy, useLoaded } from '../hooks.ts';
import { THEMES } from '../preferences.ts';
import { linkOf, type Outcome } from '../session.ts';
import { LinkField } from './link-field.tsx';
import { UnloadedNotice } from './notice.tsx';

const loadHistoryList = async () => (await import('./history-list.tsx')).HistoryList;
const loadPlayerHost = async () => (await import('../player.tsx')).PlayerHost;

/** The page at `/`. */
export const App = () => {
  const page = usePage();
  const { t, session, playback, history } = page;
  const outcome = useObservable(session.outcome);
  useLocation(page);
  const resource = outcome.phase === 'resolved' ? outcome.resource : undefined;
  const title = resource?.title ?? resource?.mediaItems[0]?.title;
  useEffect(() => {
    document.title = title ? t('app.title', { title }) : t('app.name');
  }, [title, t]);
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

/** The polite live region of the page. */
const Announcer = () => {
  const page = usePage();
  const outcome = useObservable(page.session.outcome);
  const said = useObservable(page.announcement);
  const text = describe(page, outcome);
  useEffect(() => {
    if (text !== undefined) page.announcement.set(text);
  }, [page.t, outcome.phase, text === undefined]);
  return (
    <p class="visually-hidden" role="status">
      {said}
    </p>
  );
};

/** The announcement of an outcome; undefined where a notice announces it. */
function describe({ t }: PageState, outcome: Outcome): string | undefined {
  if (outcome.phase === 'idle') return '';
  if (outcome.phase === 'failed') return undefined;
  if (outcome.phase === 'resolving') return outcome.waiting ? undefined : t('say.looking');
  const { type, title, mediaItems } = outcome.resource;
  if (outcome.phase === 'batch') return t('say.foundList', { title: t('batch.title'), count: mediaItems.length });
  const name = title ?? mediaItems[0]?.title ?? t('item.untitled');
  return type === 'PlayList'
    ? t('say.foundList', { title: name, count: mediaItems.length })
    : t('say.found', { title: name });
}

/** Time that a screen reader needs to notice that the text was cleared. */
const GAP_MS = 100;

/** Text of a live region. Screen readers announce changes only, so a repeated text is cleared first. */
export function createLiveRegion(): Subject<string> {
  const announced = createSubject('');
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    ...announced,
    set(text) {
      clearTimeout(timer);
      if (text !== announced.get()) return announced.set(text);
      announced.set('');
      timer = setTimeout(() => announced.set(text), GAP_MS);
    },
  };
}

/** Terms of use, language and theme. */
const Footer = () => {
  const { t, texts, theme, setLocale } = usePage();
  const currentTheme = useObservable(theme.current);
  return (
    <footer class="footer">
      <div class="wrap row">
        <p>{t('footer.use')}</p>
        <Select
          label={t('footer.language')}
          value={texts.locale}
          options={LOCALES}
          nameOf={(one) => LOCALE_NAMES[one]}
          languageOf={(one) => one}
          onChange={setLocale}
        />
        <Select
          label={t('footer.theme')}
          value={currentTheme}
          options={THEMES}
          nameOf={(one) => t(`footer.theme.${one}`)}
          onChange={theme.set}
        />
      </div>
    </footer>
  );
};

/** Other ways to open a link: drag and drop, bookmarklet, share target. */
const ShareOptions = () => {
  const { t } = usePage();
  const address = bookmarklet(location.origin + pagePath());
  return (
    <details class="more-ways">
      <summary>{t('ways.title')}</summary>
      <ul class="share-options">
        <li class="drop">
          <Icon name="link" />
          <p>{t('ways.drop')}</p>
        </li>
        <li>
          <Icon name="bookmark" />
          <p>
            {/* For dragging only: a click would open this page on itself. Keyboard users copy its address instead. */}
            <a class="bookmarklet" tabIndex={-1} href={address} onClick={(event) => event.preventDefault()}>
              {t('ways.bookmarklet.name')}
            </a>{' '}
            {t('ways.bookmarklet')} <CopyButton text={address} label={t('ways.bookmarklet.copy')} />
          </p>
        </li>
        <li>
          <Icon name="share" />
          <p>{t('ways.share')}</p>
        </li>
      </ul>
    </details>
  );
};

type Opener = Pick<PageState, 'session' | 'formats'>;

/**
 * Opens the link in `location.search`, with the format that `quality` names.
 * @param isReturn whether a recent result is shown again
 */
export function openLocation({ session, formats }: Opener, search: string, isReturn = false): void {
  formats.setForLink(preferenceFromQuality(new URLSearchParams(search).get('quality')));
  const links = linksFromLocation(search);
  const [link] = links;
  const offset = offsetFromLocation(search);
  if (links.length > 1) session.openAll(links);
  else if (!link) session.close(textFromLocation(search));
  else if (isReturn) session.reopen(link, offset);
  else session.open(link, offset);
}

/** Frames until a restored result has its final height, which scroll restoration needs. */
const FRAMES_OF_RESULT = 3;

/**
 * Opens the addresses of this page without loading it again, and leaves history and scroll positions to the browser. A
 * browser without the Navigation API (Baseline 2026) loads the page at each address.
 */
function useLocation(opener: Opener): void {
  useEffect(() => {
    const open = (event: NavigateEvent) => {
      const { pathname, search } = new URL(event.destination.url);
      const isOwn = event.canIntercept && pathname === location.pathname;
      if (!isOwn || event.hashChange || event.navigationType === 'reload') return;
      const handler = async () => {
        openLocation(opener, search, event.navigationType === 'traverse');
        for (let frame = 0; frame < FRAMES_OF_RESULT; frame++) await new Promise(requestAnimationFrame);
      };
      // The focus stays in the field.
      event.intercept({ handler, focusReset: 'manual' });
    };
    window.navigation?.addEventListener('navigate', open);
    return () => window.navigation?.removeEventListener('navigate', open);
  }, []);
}

// Loaded while the first link is being resolved, because the start page does not need it.
const loadShownResult = async () => (await import('./shown-result.tsx')).ShownResult;

/** The outcome of the link in the field. */
const Result = ({ outcome }: { readonly outcome: Outcome }) => {
  const { loaded: ShownResult, error, retry } = useLazy(loadShownResult);
  // The key makes the notice announce itself again in each phase, because the announcer speaks in between.
  if (error) return <UnloadedNotice key={outcome.phase} onRetry={retry} />;
  const isWaiting = outcome.phase === 'resolving' && !outcome.waiting;
  return ShownResult && !isWaiting ? <ShownResult outcome={outcome} /> : <Skeleton link={linkOf(outcome)} />;
};

/** How addresses name lists. */
const LIST_LINK = /lists?\b|\/(?:sets|album|channel)\/|\/@[^/]+\/?$/i;

/**
 * Placeholder while a link is being resolved, in the shape of what comes: a list, where the link says so or was one before, else an item.
 * @param link absent: several links
 */
const Skeleton = ({ link = '' }: { readonly link: string | undefined }) => {
  const { t, history } = usePage();
  const known = history.entries.get().find((entry) => entry.link === link);
  const isList = !link || (known?.isList ?? LIST_LINK.test(link));
  return (
    <div class={isList ? '' : 'item'}>
      <div>
        {!isList && <div class="media-stage skeleton" />}
        <div class="item-head">
          <span class="skeleton line title" />
          <span class="skeleton line short" />
        </div>
      </div>
      <div class="panel download-panel">
        <div class="loading">
          <p>{t('field.loading')}</p>
          <Button look="small" icon="close" onClick={() => location.assign('./')}>
            {t('action.cancel')}
          </Button>
        </div>
        {Array.from({ length: isList ? 6 : 3 }, (_, row) => (
          <span key={row} class="skeleton row" />
        ))}
      </div>
    </div>
  );
};

/** The logo: a reel with a play sign. Mirrored in right-to-left pages. */
const Logo = () => (
  <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
    <path class="logo-reel" d="M12 0a12 12 0 0 0 0 24h12v-3H19.94A12 12 0 0 0 12 0Z" />
    <path class="logo-play" d="M8.7 6.3v11.4l9.4-5.7Z" />
  </svg>
);

/** Logo and name, and a line that moves while a link is resolved. */
const Header = ({ isMoving = false }: { readonly isMoving?: boolean }) => {
  const { t } = usePage();
  return (
    <header class="header">
      <div class="wrap">
        <a class="home-link" href="./" aria-label={t('app.home')}>
          <Logo />
          <span class="name">{t('app.name')}</span>
        </a>
      </div>
      <div class={isMoving ? 'tape moving' : 'tape'} />
    </header>
  );
};

/** The headline and the field; above a result the field alone. */
const Hero = ({ outcome }: { readonly outcome: Outcome }) => {
  const { t } = usePage();
  return (
    <div class={outcome.phase === 'idle' ? 'hero' : 'hero small'}>
      <h1>{t('app.headline')}</h1>
      <p class="lede">{t('app.lede')}</p>
      <LinkField outcome={outcome} />
      {outcome.phase === 'idle' && <KnownSites />}
    </div>
  );
};

/** What the instance reads, and links to try where it has some, in the place of the field's message. */
const KnownSites = () => {
  const { t, api, format } = usePage();
  // In an effect, once all of the page is there.
  const { sites, samples = [] } = useLoaded(() => api.getAppInfo(), []) ?? {};
  return (
    <div class="sites">
      {!!sites?.count && format.and([...sites.names, t('start.others', { count: sites.count - sites.names.length })])}
      <p>
        {samples.length > 0 && t('start.try')}
        {samples.map(({ url, title }) => (
          <a key={url} href={shareableLocation([url])}>
            {title}
          </a>
        ))}
      </p>
    </div>
  );
};

/** The prerendered part of the start page: the first elements of `App`. */
export const Shell = () => (
  <div class="page">
    <Header />
    <main class="wrap">
      <Hero outcome={{ phase: 'idle' }} />
    </main>
  </div>
);
