import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Api, ClipTimes } from '../api/index.ts';
import type { Format } from '../format.ts';
import type { History, HistoryItem } from '../history.ts';
import type { Choice } from '../renditions/index.ts';
import { createSubject, type Observable, type Subject } from '../store.ts';
import type { Locale, Texts } from '../texts.ts';
import type { Downloads } from './downloads.ts';
import type { FormatStore, ThemeStore } from './preferences.ts';
import type { Session } from './session.ts';

/** Services available to every component. */
export interface PageState {
  readonly api: Api;
  readonly texts: Texts;
  /** `texts.t`. */
  readonly t: Texts['t'];
  readonly format: Format;
  readonly session: Session;
  readonly downloads: Downloads;
  readonly history: History;
  readonly formats: FormatStore;
  readonly theme: ThemeStore;
  readonly playback: ReturnType<typeof createPlayback>;
  /** The action of Enter in the link field while a result is shown; set by the result. */
  readonly primaryAction: { current: (() => void) | undefined };
  /** The link whose result starts its preselected download. */
  readonly startsDownload: { current: string | undefined };
  /** Next text of the polite live region. */
  readonly announcement: Subject<string>;
  /** Changes and stores the language; keeps the current one if loading fails. */
  readonly setLocale: (locale: Locale) => Promise<void>;
}

export const PageContext = createContext<PageState | undefined>(undefined);

/** The services of the page. @throws Error outside of `PageContext` */
export function usePage(): PageState {
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

/** What is being played. */
export interface Playback extends HistoryItem {
  readonly choice: Choice;
  readonly title: string;
  /** Position to start at. */
  readonly startSeconds?: number;
  /** The part that is to be downloaded, once it is being selected. */
  readonly clip?: ClipTimes;
}

/** The one player of the page. It outlives the result that started it. */
export const createPlayback = () => ({
  current: createSubject<Playback | undefined>(undefined),
  /** Where the player is shown; undefined: in the mini player. */
  stage: createSubject<HTMLElement | undefined>(undefined),
  /** The element that plays. */
  media: { current: null as HTMLMediaElement | null },
});
