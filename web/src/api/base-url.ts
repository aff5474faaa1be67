import { readStored, type Store, store } from '../lib/index.ts';

export interface BaseUrl {
  /** Origin and path without a slash at the end. */
  readonly base: string;
  /** Not the instance that this page came from. */
  readonly isOther: boolean;
  /** `?api=` names nothing that can be asked; the page stays with what it had. */
  readonly isRefused: boolean;
}

export interface BaseUrlOptions {
  /** `location.origin`. */
  readonly origin: string;
  /** `location.search`: `?api=https://other` is remembered, an empty `?api=` forgets. */
  readonly search: string;
  readonly storage?: Store | undefined;
}

const NAME = 'reelay.api';
/** As security-headers.json lets a page ask. */
const LOOPBACK = ['localhost', '127.0.0.1'];

/** Which instance to ask: https anywhere, or http on this machine. */
export function readBaseUrl({ origin, search, storage }: BaseUrlOptions): BaseUrl {
  const asked = new URLSearchParams(search).get('api');
  const wanted = asked?.trim() ? normalize(asked.trim()) : undefined;
  if (asked?.trim() === '' || wanted === origin) forgetBaseUrl(storage);
  else if (wanted !== undefined) store(storage, NAME, wanted);
  const isEmpty = asked !== null && asked.trim() === '';
  const base = wanted ?? (isEmpty ? origin : (normalize(readStored(storage, NAME) ?? '') ?? origin));
  return { base, isOther: base !== origin, isRefused: asked !== null && !isEmpty && wanted === undefined };
}

/** Back to the instance that the page came from. */
export const forgetBaseUrl = (storage: Store | undefined): void => void store(storage, NAME, null);

function normalize(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return undefined;
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
  return isAllowed ? url.origin + url.pathname.replace(/\/+$/, '') : undefined;
}
