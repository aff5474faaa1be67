import { openLocalStore, openTabStore, readStored, store } from '../lib/index.ts';
import type { Entered } from './entered.ts';

/** Read by the front of the instance, for links and players too. */
const COOKIE = 'reelay-access-key';
const NAME = 'reelay.access';
/** The longest time for which browsers keep a cookie: 400 days. */
const COOKIE_SECONDS = 400 * 24 * 3600;

const isOwn = (base: string): boolean => base === location.origin;

/** The access key of another instance, if it was entered; that of the page's own is sent as a cookie. */
export function storedKey(base: string): string | undefined {
  const name = `${NAME} ${base}`;
  return readStored(openTabStore(), name) ?? readStored(openLocalStore(), name) ?? undefined;
}

/** The access key of any instance, if it was entered. */
export const keyOf = (base: string): string | undefined =>
  isOwn(base) ? new RegExp(`(?:^|; )${COOKIE}=([^;]+)`).exec(document.cookie)?.[1] : storedKey(base);

export function rememberKey(base: string, { key, isRemembered }: Entered): void {
  if (!isOwn(base)) {
    store(isRemembered ? openLocalStore() : openTabStore(), `${NAME} ${base}`, key);
    return;
  }
  const attributes = ['Path=/', 'SameSite=Strict'];
  if (location.protocol === 'https:') attributes.push('Secure');
  if (isRemembered) attributes.push(`Max-Age=${COOKIE_SECONDS}`);
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Safari and on http
  document.cookie = [`${COOKIE}=${key}`, ...attributes].join('; ');
}
