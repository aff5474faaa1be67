import { pagePath } from '../lib/index.ts';

/** Read by the front of the instance, for links and players too. */
const COOKIE = 'reelay-access-key';
/** The longest time for which browsers keep a cookie: 400 days. */
const COOKIE_SECONDS = 400 * 24 * 3600;

/** The access key, if it was entered. */
export const storedKey = (): string | undefined => new RegExp(`(?:^|; )${COOKIE}=([^;]+)`).exec(document.cookie)?.[1];

/**
 * Stores the key as a cookie, which requests, links and players then carry.
 * @param isRemembered on this device, rather than until the tab or the browser is closed
 */
export const rememberKey = (key: string, isRemembered: boolean): void =>
  writeCookie(key, isRemembered ? COOKIE_SECONDS : undefined);

/** Removes the key, which the instance has refused. */
export const forgetKey = (): void => writeCookie('', 0);

/** @param maxAgeSeconds until the tab or the browser is closed without it */
function writeCookie(value: string, maxAgeSeconds: number | undefined): void {
  const attributes = [`Path=${pagePath()}/`, 'SameSite=Strict'];
  if (location.protocol === 'https:') attributes.push('Secure');
  if (maxAgeSeconds !== undefined) attributes.push(`Max-Age=${maxAgeSeconds}`);
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Safari and on http
  document.cookie = [`${COOKIE}=${value}`, ...attributes].join('; ');
}
