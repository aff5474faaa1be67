import type { Entered } from './stored-key.ts';
import { rememberKey } from './stored-key.ts';

export interface AccessOptions {
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
 * Repeats a request to a private instance with the access key that the visitor enters. The cookie that then stores it had no
 * key, or a wrong one.
 * @returns the 401 when there is no key
 */
export async function withAccessKey({ response, send, mayAsk }: AccessOptions): Promise<Response> {
  const sendKey = (key: string) => send({ authorization: `Bearer ${key}` });
  if (!mayAsk || !globalThis.document) return response;

  let accepted: Response | undefined;
  asking ??= askForKey(async (entered) => {
    const answer = await sendKey(entered.key);
    if (answer.status === 401) return false;
    accepted = answer;
    rememberKey(entered);
    return true;
  }).finally(() => {
    asking = undefined;
  });
  const key = await asking;
  return accepted ?? (key ? sendKey(key) : response);
}

/** @param check whether the instance accepts the key. @returns the accepted key; undefined when the visitor cancels */
async function askForKey(check: (entered: Entered) => Promise<boolean>): Promise<string | undefined> {
  const { showAccessDialog } = await import('./access-dialog.tsx');
  return showAccessDialog(location.host, check);
}
