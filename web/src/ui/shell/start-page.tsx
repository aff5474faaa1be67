import { render } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { createApi } from '../../api/index.ts';
import { createFormat } from '../../format.ts';
import { createHistory } from '../../history.ts';
import { linksFromLocation, pagePath } from '../../links.ts';
import { openLocalStore, readStored, store } from '../../store.ts';
import { type Locale, loadFirstTexts, loadTexts, wantedLocales } from '../../texts.ts';
import { createPlayback, PageContext, usePage } from '../context.ts';
import { createDownloads } from '../downloads.ts';
import { createFormatStore, createThemeStore } from '../preferences.ts';
import { createSession } from '../session.ts';
import { App, createLiveRegion, openLocation } from './app.tsx';

const LANGUAGE = 'reelay.language';

/** Renders the page in the visitor's language. Its link is opened before the first rendering to avoid a layout shift. */
export async function startPage(): Promise<void> {
  const storage = openLocalStore();
  const api = createApi(location.origin + pagePath());
  const history = createHistory({ storage, events: window });
  const fixed = {
    api,
    history,
    formats: createFormatStore(storage),
    theme: createThemeStore(storage),
    playback: createPlayback(),
    primaryAction: { current: undefined },
    startsDownload: { current: takeDownloadRequest() },
    session: createSession({ api, history }),
    downloads: createDownloads({ api, history }),
    announcement: createLiveRegion(),
  };
  openLocation(fixed, location.search);
  const root = document.getElementById('app') ?? document.body;

  let texts = await loadFirstTexts(wantedLocales(navigator.languages, readStored(storage, LANGUAGE)));
  let lastAsked = texts.locale;
  show();

  function show(): void {
    document.documentElement.lang = texts.locale;
    // preload.ts has set these for the prerendered shell.
    document.documentElement.classList.remove('opened', 'translating');
    document.documentElement.dir = texts.direction;
    render(
      <PageContext.Provider value={{ ...fixed, texts, t: texts.t, format: createFormat(texts.locale), setLocale }}>
        <GuardedApp />
      </PageContext.Provider>,
      root,
    );
  }
  async function setLocale(locale: Locale): Promise<void> {
    lastAsked = locale;
    const load = async () => {
      const loaded = await loadTexts(locale);
      if (texts.isLazyWanted) await loaded.loadLazy();
      return loaded;
    };
    const loaded = await load().catch(() => undefined);
    if (locale !== lastAsked) return;
    if (loaded) {
      texts = loaded;
      store(storage, LANGUAGE, locale);
    }
    // Also after a failure: the select already shows the new language.
    show();
  }
}

/** The page, or a notice when it throws while it is rendered: the last resort instead of a blank page. */
const GuardedApp = () => {
  const { t } = usePage();
  const [error] = useErrorBoundary((cause) => console.error(cause));
  if (!error) return <App />;
  return (
    <main class="wrap hero small">
      <h1>{t('crash.title')}</h1>
      <a class="button" href="./">
        {t('action.retry')}
      </a>
    </main>
  );
};

/** The link of an address that ends in `#download`, as the browser extension opens it. A reload does not download again. */
function takeDownloadRequest(): string | undefined {
  if (location.hash !== '#download') return undefined;
  window.history.replaceState(null, '', location.pathname + location.search);
  return linksFromLocation(location.search)[0];
}
