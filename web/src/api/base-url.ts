import { readStored, type Store, store } from '../lib/index.ts';

export interface BaseUrl {
  /** Origin and path without a trailing slash. */
  readonly base: string;
  /** Another instance than the one that served this page. */
  readonly isOther: boolean;
  /** `?api=` was not a usable URL and is ignored. */
  readonly isRefused: boolean;
}

export interface BaseUrlOptions {
  /** `location.origin`. */
  readonly origin: string;
  /** `location.search`: `?api=https://other` is stored, an empty `?api=` removes it. */
  readonly search: string;
  readonly storage?: Store | undefined;
}

const NAME = 'reelay.api';
/** Hosts that connect-src in security-headers.json allows over http. */
const LOOPBACK = ['localhost', '127.0.0.1'];

/** Selects the instance: any https URL, or http on loopback. */
export function readBaseUrl({ origin, search, storage }: BaseUrlOptions): BaseUrl {
  const asked = new URLSearchParams(search).get('api');
  const wanted = asked?.trim() ? normalize(asked.trim()) : undefined;
  if (asked?.trim() === '' || wanted === origin) forgetBaseUrl(storage);
  else if (wanted !== undefined) store(storage, NAME, wanted);
  const isEmpty = asked !== null && asked.trim() === '';
  const base = wanted ?? (isEmpty ? origin : (normalize(readStored(storage, NAME) ?? '') ?? origin));
  return { base, isOther: base !== origin, isRefused: asked !== null && !isEmpty && wanted === undefined };
}

/** Returns to the instance that served this page. */
export const forgetBaseUrl = (storage: Store | undefined): void => void store(storage, NAME, null);

function normalize(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return undefined;
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
  return isAllowed ? url.origin + url.pathname.replace(/\/+$/, '') : undefined;
}
