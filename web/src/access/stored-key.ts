/** What the visitor has entered. */
export interface Entered {
  readonly key: string;
  /** On this device, rather than until the tab or the browser is closed. */
  readonly isRemembered: boolean;
}

/** Read by the front of the instance, for links and players too. */
const COOKIE = 'reelay-access-key';
/** The longest time for which browsers keep a cookie: 400 days. */
const COOKIE_SECONDS = 400 * 24 * 3600;

/** The access key, if it was entered. */
export const storedKey = (): string | undefined => new RegExp(`(?:^|; )${COOKIE}=([^;]+)`).exec(document.cookie)?.[1];

/** Stores the key as a cookie, which requests, links and players then carry. */
export function rememberKey({ key, isRemembered }: Entered): void {
  const attributes = ['Path=/', 'SameSite=Strict'];
  if (location.protocol === 'https:') attributes.push('Secure');
  if (isRemembered) attributes.push(`Max-Age=${COOKIE_SECONDS}`);
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Safari and on http
  document.cookie = [`${COOKIE}=${key}`, ...attributes].join('; ');
}
