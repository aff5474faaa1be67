import { useEffect, useState } from 'preact/hooks';
import { type Api, ApiFailure } from '../../api/index.ts';
import { createTtlCache, type Texts } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { type LoadedDetails, loadDetails, type SubtitleInformation } from './media-details.ts';

/** Shared by the player and the result: each item is asked for once. */
const recent = createTtlCache<Promise<LoadedDetails>>({ maxEntries: 20, ttlMs: 600_000 });

function detailsOf(api: Api, link: string): Promise<LoadedDetails> {
  const key = `${api.base} ${link}`;
  const known = recent.get(key);
  if (known) return known;
  const loading = loadDetails(api, link);
  recent.put(key, loading);
  // A failure is not kept: the next request may succeed.
  loading.catch(() => recent.delete(key));
  return loading;
}

export interface DetailsState {
  readonly details?: LoadedDetails;
  readonly failure?: ApiFailure;
  readonly retry: () => void;
}

/** The details of a link, loaded once they are wanted. */
export function useDetails(link: string | null, isWanted: boolean): DetailsState {
  const { api } = usePage();
  const [state, setState] = useState<Pick<DetailsState, 'details' | 'failure'>>({});
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setState({});
    if (!link || !isWanted) return;
    let isCurrent = true;
    detailsOf(api, link).then(
      (details) => isCurrent && setState({ details }),
      (error) => isCurrent && setState({ failure: error instanceof ApiFailure ? error : new ApiFailure('failed') }),
    );
    return () => {
      isCurrent = false;
    };
  }, [api, link, isWanted, attempt]);
  return { ...state, retry: () => setAttempt(attempt + 1) };
}

/** The language of a subtitle file in the visitor's language, marked when it was made by speech recognition. */
export function subtitleName({ language, name, isAutomatic }: SubtitleInformation, { t, locale }: Texts): string {
  const text = name ?? languageName(language, locale);
  return isAutomatic ? t('details.automatic', { language: text }) : text;
}

/** In the visitor's language; the tag itself where it names none. */
export function languageName(language: string, locale: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: 'language' }).of(language) ?? language;
  } catch {
    // Sources name languages freely.
    return language;
  }
}
