import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { Api, BaseUrl } from '../api/index.ts';
import type { Format, History, Locale, Observable, Subject, Texts } from '../lib/index.ts';
import type { Downloads } from './downloads-state.ts';
import type { Session } from './session.ts';

/** What every component may ask for. */
export interface Page {
  readonly api: Api;
  readonly instance: BaseUrl;
  readonly texts: Texts;
  readonly format: Format;
  readonly session: Session;
  readonly downloads: Downloads;
  readonly history: History;
  /** What a screen reader is told next, politely. */
  readonly announcement: Subject<string>;
  /** Goes back to the instance that the page came from. */
  readonly forgetInstance: () => void;
  /** Changes the language, and remembers it. One that cannot be loaded changes nothing. */
  readonly setLocale: (locale: Locale) => Promise<void>;
}

export const PageContext = createContext<Page | undefined>(undefined);

/** The page that a component stands on. @throws Error outside of one */
export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error('A component outside of the page');
  return page;
}

/** The value of an observable, kept current. */
export function useObservable<T>(observable: Observable<T>): T {
  const [, redraw] = useState({});
  useEffect(() => {
    // It may have changed between drawing and listening.
    redraw({});
    return observable.subscribe(() => redraw({}));
  }, [observable]);
  return observable.get();
}
