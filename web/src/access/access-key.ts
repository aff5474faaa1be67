import { pagePath } from '../links.ts';

/** A cookie, so that links and media elements send the key too. The instance reads it. */
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

/** A year, because podcast subscriptions keep a URL. The service signs URLs in feeds in the same way: core/http/client.ts. */
const TTL_SECONDS = 366 * 24 * 3600;
const DAY_SECONDS = 24 * 3600;
const ID_CHARACTERS = 12;
const SIGNATURE_CHARACTERS = 22;

/**
 * The `access` parameter that admits clients without a key, such as podcast clients, to Get and Feed of a link for a year:
 * `<id of the access key>.<expiry>.<signature>`. Undefined for an open instance.
 * @param link the `url` parameter
 */
export async function signLink(link: string, now = Date.now()): Promise<string | undefined> {
  const key = storedKey();
  if (!key) return undefined;
  // `crypto.subtle` is missing on http, which instances in home networks use.
  const { hash, sign } = await import('./hmac.ts');
  const keyHash = hash(key);
  const expiry = Math.ceil((now / 1000 + TTL_SECONDS) / DAY_SECONDS) * DAY_SECONDS;
  const signature = sign(keyHash, `${link}.${expiry}`).slice(0, SIGNATURE_CHARACTERS);
  return `${keyHash.slice(0, ID_CHARACTERS)}.${expiry}.${signature}`;
}
