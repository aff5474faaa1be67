import { openLocalStore, openTabStore, readStored, store } from '../lib/index.ts';
import type { Entered } from './entered.ts';

export interface AccessOptions {
  /** Of the instance, as `readBaseUrl` returns it. */
  readonly base: string;
  /** The 401 of a request that had no key, or a wrong one. */
  readonly response: Response;
  /** Sends the request again with further headers. */
  readonly send: (headers: Readonly<Record<string, string>>) => Promise<Response>;
  /** Whether the visitor may be asked for the key. */
  readonly mayAsk: boolean;
}

/** Read by the front of the instance, for links and players too. */
const COOKIE = 'reelay-access-key';
const NAME = 'reelay.access';
/** The longest time for which browsers keep a cookie: 400 days. */
const COOKIE_SECONDS = 400 * 24 * 3600;

/** Of all requests that wait for the visitor. */
let asking: Promise<string | undefined> | undefined;

/**
 * Repeats a request to a private instance with its access key: the one that is stored, else the one that the visitor enters.
 * The instance that served the page gets the key as a cookie, and another one in a header.
 * @returns the 401 when there is no key
 */
export async function withAccessKey({ base, response, send, mayAsk }: AccessOptions): Promise<Response> {
  const sendKey = (key: string) => send({ authorization: `Bearer ${key}` });
  const stored = storedKey(base);
  const repeated = stored ? await sendKey(stored) : response;
  if (repeated.status !== 401 || !mayAsk || !globalThis.document) return repeated;

  let accepted: Response | undefined;
  asking ??= askForKey(base, async (entered) => {
    const answer = await sendKey(entered.key);
    if (answer.status === 401) return false;
    accepted = answer;
    remember(base, entered);
    return true;
  }).finally(() => {
    asking = undefined;
  });
  const key = await asking;
  return accepted ?? (key ? sendKey(key) : repeated);
}

const isOwn = (base: string): boolean => base === location.origin;

/** Of another instance; that of the page has a cookie. */
function storedKey(base: string): string | undefined {
  const name = `${NAME} ${base}`;
  return readStored(openTabStore(), name) ?? readStored(openLocalStore(), name) ?? undefined;
}

function remember(base: string, { key, isRemembered }: Entered): void {
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

/** @param check whether the instance accepts the key. @returns the accepted key; undefined when the visitor cancels */
async function askForKey(base: string, check: (entered: Entered) => Promise<boolean>): Promise<string | undefined> {
  const { showAccessDialog } = await import('./access-dialog.tsx');
  return showAccessDialog(new URL(base).host, check);
}
