import type { Entered } from './entered.ts';
import { rememberKey, storedKey } from './stored-key.ts';

export interface AccessOptions {
  /** Base URL of the instance, as `readBaseUrl` returns it. */
  readonly base: string;
  /** The 401 of a request that had no key, or a wrong one. */
  readonly response: Response;
  /** Sends the request again with further headers. */
  readonly send: (headers: Readonly<Record<string, string>>) => Promise<Response>;
  /** Whether the visitor may be asked for the key. */
  readonly mayAsk: boolean;
}

/** The one dialog that all requests without a key wait for. */
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
    rememberKey(base, entered);
    return true;
  }).finally(() => {
    asking = undefined;
  });
  const key = await asking;
  return accepted ?? (key ? sendKey(key) : repeated);
}

/** @param check whether the instance accepts the key. @returns the accepted key; undefined when the visitor cancels */
async function askForKey(base: string, check: (entered: Entered) => Promise<boolean>): Promise<string | undefined> {
  const { showAccessDialog } = await import('./access-dialog.tsx');
  return showAccessDialog(new URL(base).host, check);
}
