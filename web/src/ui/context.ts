import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Api } from '../api/index.ts';
import type { Format, History, Locale, Observable, Subject, Texts } from '../lib/index.ts';
import type { Downloads } from './downloads.ts';
import type { FormatStore } from './format-store.ts';
import type { PlaybackState } from './playback.ts';
import type { Session } from './session.ts';
import type { ThemeStore } from './theme-store.ts';

/** Services available to every component. */
export interface Page {
  readonly api: Api;
  readonly texts: Texts;
  readonly format: Format;
  readonly session: Session;
  readonly downloads: Downloads;
  readonly history: History;
  readonly formats: FormatStore;
  readonly theme: ThemeStore;
  readonly playback: PlaybackState;
  /** What Enter in the link field does once the result is shown; set by the result. */
  readonly primaryAction: { current: (() => void) | undefined };
  /** The link whose result starts its preselected download. */
  readonly startsDownload: { current: string | undefined };
  /** Next text of the polite live region. */
  readonly announcement: Subject<string>;
  /** Changes and stores the language; keeps the current one if loading fails. */
  readonly setLocale: (locale: Locale) => Promise<void>;
}

export const PageContext = createContext<Page | undefined>(undefined);

/** The services of the page. @throws Error outside of `PageContext` */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error('A component outside of the page');
  return page;
}

/** The current value of an observable; re-renders on change. */
export function useObservable<T>(observable: Observable<T>): T {
  const [, redraw] = useState({});
  useEffect(() => {
    // It may have changed between rendering and subscribing.
    redraw({});
    return observable.subscribe(() => redraw({}));
  }, [observable]);
  return observable.get();
}
