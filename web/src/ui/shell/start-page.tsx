import { type ComponentChild, render } from 'preact';
import { createApi } from '../../api/index.ts';
import {
  createFormat,
  createHistory,
  type Locale,
  loadFirstTexts,
  loadTexts,
  openLocalStore,
  readStored,
  store,
  type Texts,
  wantedLocales,
} from '../../lib/index.ts';
import { PageContext } from '../context.ts';
import { createDownloads } from '../downloads.ts';
import { createFormatStore } from '../format-store.ts';
import { createLiveRegion } from '../live-region.ts';
import { createPlayback } from '../playback.ts';
import { createSession } from '../session.ts';
import { createThemeStore } from '../theme-store.ts';
import { ErrorBoundary } from './error-boundary.tsx';
import { openLocation } from './use-location.ts';

const LANGUAGE = 'reelay.language';

/**
 * Renders a page in the visitor's language.
 * @param search `location.search`, opened before the first rendering to avoid a layout shift
 * @param needsLazyTexts of lazily loaded components
 */
export async function startPage(content: ComponentChild, search = '', needsLazyTexts = false): Promise<void> {
  const storage = openLocalStore();
  const api = createApi(location.origin);
  const history = createHistory({ storage, events: window });
  const fixed = {
    api,
    history,
    formats: createFormatStore(storage),
    theme: createThemeStore(storage),
    playback: createPlayback(),
    primaryAction: { current: undefined },
    startsDownload: { current: takeDownloadRequest() as boolean | string },
    session: createSession({ api, history }),
    downloads: createDownloads({ api, history }),
    announcement: createLiveRegion(),
  };
  openLocation(fixed, search);
  const root = document.getElementById('app') ?? document.body;

  let texts = await loadFirstTexts(wantedLocales(navigator.languages, readStored(storage, LANGUAGE)));
  if (needsLazyTexts) await texts.loadLazy();
  let lastAsked = texts.locale;
  show();

  function show(): void {
    document.documentElement.lang = texts.locale;
    // early.ts has set these for the prerendered shell.
    document.documentElement.classList.remove('opened', 'translating');
    document.documentElement.dir = texts.direction;
    const page = { ...fixed, texts, format: createFormat(texts.locale), setLocale };
    const guarded = <ErrorBoundary>{content}</ErrorBoundary>;
    render(<PageContext.Provider value={page}>{guarded}</PageContext.Provider>, root);
  }
  async function setLocale(locale: Locale): Promise<void> {
    lastAsked = locale;
    const loaded = await loadLike(texts, locale).catch(() => undefined);
    if (locale !== lastAsked) return;
    if (loaded) texts = loaded;
    // Also after a failure: the select already shows the new language.
    show();
    if (loaded) store(storage, LANGUAGE, locale);
  }
}

/** The texts of another language, of lazily loaded components too where the current ones have them. */
async function loadLike({ isLazyWanted }: Texts, locale: Locale): Promise<Texts> {
  const texts = await loadTexts(locale);
  if (isLazyWanted) await texts.loadLazy();
  return texts;
}

/** Whether the address ends in `#download`, as the browser extension opens it. A reload does not download again. */
function takeDownloadRequest(): boolean {
  if (location.hash !== '#download') return false;
  window.history.replaceState(null, '', location.pathname + location.search);
  return true;
}
