import { readStored, type Store, store } from '../lib/index.ts';

export interface BaseUrl {
  /** Origin and path without a trailing slash. */
  readonly base: string;
  /** Another instance than the one that served this page. */
  readonly isOther: boolean;
  /** `?api=` was not a usable URL and is ignored. */
  readonly isRefused: boolean;
  /** Another instance that `?api=` names: it is used only after the visitor has agreed. */
  readonly proposed?: string;
}

export interface BaseUrlOptions {
  /** `location.origin`. */
  readonly origin: string;
  /** `location.search`: `?api=https://other` proposes an instance, an empty `?api=` returns to the page's own. */
  readonly search: string;
  /** Shared by all tabs, for an instance that is to be remembered. */
  readonly storage?: Store | undefined;
  /** Belongs to this tab. */
  readonly tabStorage?: Store | undefined;
}

const NAME = 'reelay.api';
/** Hosts that connect-src in security-headers.json allows over http. */
const LOOPBACK = ['localhost', '127.0.0.1'];

/** Selects the instance: any https URL, or http on loopback. A link to the page alone never changes it. */
export function readBaseUrl({ origin, search, storage, tabStorage }: BaseUrlOptions): BaseUrl {
  const asked = new URLSearchParams(search).get('api')?.trim();
  const wanted = asked ? normalize(asked) : undefined;
  if (asked === '' || wanted === origin) forgetBaseUrl(storage, tabStorage);
  const accepted = normalize(readStored(tabStorage, NAME) ?? '') ?? normalize(readStored(storage, NAME) ?? '');
  const base = accepted ?? origin;
  const isRefused = Boolean(asked) && wanted === undefined;
  const proposed = wanted === base ? undefined : wanted;
  return { base, isOther: base !== origin, isRefused, proposed };
}

/** Uses an instance that the visitor has agreed to, in the tab or everywhere, by the store. @param base as proposed */
export const acceptBaseUrl = (base: string, storage: Store | undefined): boolean => store(storage, NAME, base);

/** Returns to the instance that served this page. */
export function forgetBaseUrl(...storages: readonly (Store | undefined)[]): void {
  for (const storage of storages) store(storage, NAME, null);
}

function normalize(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return undefined;
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.includes(url.hostname));
  return isAllowed ? url.origin + url.pathname.replace(/\/+$/, '') : undefined;
}
