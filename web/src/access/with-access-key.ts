import { ReelayError } from '../../../clients/reelay-client/src/index.ts';
import { forgetKey, storedKey } from './access-key.ts';

/** The one dialog that all requests without a key wait for. */
let asking: Promise<boolean> | undefined;

/**
 * Repeats a request to a private instance with the stored access key, or else the one that the visitor enters, until the instance
 * accepts it. A key that it refuses is forgotten.
 * @param refusal the 401, thrown again when the visitor enters none
 */
export async function withAccessKey<T>(refusal: unknown, send: () => Promise<T>): Promise<T> {
  for (let wasWrong = false; ; wasWrong = true) {
    if (!storedKey()) {
      asking ??= askForKey(wasWrong).finally(() => {
        asking = undefined;
      });
      if (!(await asking)) throw refusal;
    }
    const key = storedKey();
    // A browser that stores no cookie cannot send the key.
    if (!key) throw refusal;
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof ReelayError && error.status === 401)) throw error;
      // Another request may have stored a new key meanwhile.
      if (storedKey() === key) forgetKey();
    }
  }
}

async function askForKey(wasWrong: boolean): Promise<boolean> {
  const { showAccessDialog } = await import('./access-dialog.tsx');
  return showAccessDialog(wasWrong);
}
