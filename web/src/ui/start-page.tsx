import { type ComponentChild, render } from 'preact';
import { createApi } from '../lib/api.ts';
import { forgetBaseUrl, readBaseUrl } from '../lib/base-url.ts';
import { createFormat } from '../lib/format.ts';
import { createHistory } from '../lib/history.ts';
import { createSubject } from '../lib/observable.ts';
import { chooseLocale, type Locale, loadTexts } from '../lib/texts.ts';
import { PageContext } from './context.ts';
import { createDownloads } from './downloads-state.ts';
import { createSession } from './session.ts';

const LANGUAGE = 'reelay.language';

/**
 * Puts a page into the document, in the reader's language.
 * @param link what it opens with: known before the first drawing, so that nothing moves afterwards
 */
export async function startPage(content: ComponentChild, link?: string): Promise<void> {
  const storage = openStorage();
  const instance = readBaseUrl({ origin: location.origin, search: location.search, storage });
  const api = createApi(instance.base);
  const history = createHistory({ storage });
  const fixed = {
    api,
    instance,
    history,
    session: createSession({ api, history }),
    downloads: createDownloads(api),
    announcement: createSubject(''),
    forgetInstance() {
      forgetBaseUrl(storage);
      location.assign('/');
    },
  };
  if (link) fixed.session.open(link);
  const root = document.getElementById('app') ?? document.body;

  async function show(locale: Locale): Promise<void> {
    const texts = await loadTexts(locale);
    document.documentElement.lang = locale;
    document.documentElement.dir = texts.direction;
    const page = { ...fixed, texts, format: createFormat(locale), speak };
    render(<PageContext.Provider value={page}>{content}</PageContext.Provider>, root);
  }
  function speak(locale: Locale): void {
    storage?.setItem(LANGUAGE, locale);
    void show(locale);
  }
  await show(chooseLocale(navigator.languages, storage?.getItem(LANGUAGE)));
}

/** Absent where the browser forbids it. */
function openStorage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}
