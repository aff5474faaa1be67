import { parseKeys } from '../../core/config/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { KeyStore } from './key-store.ts';

/** The edge function reads entries with this prefix (`viewer-request-access.js`). */
export const ACCESS_KEY_PREFIX = 'access-';

export interface SyncOptions {
  readonly readSecret: () => Promise<string | undefined>;
  readonly store: KeyStore;
  readonly log: Log;
}

export interface SyncOutcome {
  readonly keys: number;
  readonly added: number;
  readonly removed: number;
}

/** Another process may change the store at the same time: the registration of a stream task is in it too. */
const MAX_ATTEMPTS = 3;

/**
 * Makes the key-value store hold the hashes of the secret's access keys, and no others.
 * @throws SettingError that contains no part of a key, when the secret has none or an invalid one: the store stays as
 * it is
 */
export async function syncAccessKeys({ readSecret, store, log }: SyncOptions): Promise<SyncOutcome> {
  const text = (await readSecret()) ?? '';
  const keys = parseKeys('accessKeysSecret', text.trim().split(/[\s,]+/));
  const wanted = new Map(keys.map(({ id, hash }) => [id, hash]));
  for (let attempt = 1; ; attempt++) {
    try {
      const present = await store.entries();
      const added = new Map([...wanted].filter(([id, hash]) => present.get(id) !== hash));
      const removed = [...present.keys()].filter((id) => !wanted.has(id));
      if (added.size + removed.length > 0) await store.change(added, removed);
      const outcome = { keys: wanted.size, added: added.size, removed: removed.length };
      log.info('Access keys applied', outcome);
      return outcome;
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      log.warn('Retrying to write access keys', { attempt, error });
    }
  }
}

/** Removes all access keys from the store. */
export async function removeAccessKeys({ store }: Pick<SyncOptions, 'store'>): Promise<void> {
  const present = await store.entries();
  if (present.size > 0) await store.change(new Map(), [...present.keys()]);
}
