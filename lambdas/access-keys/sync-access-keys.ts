import { withRetries } from '@reelay/concurrency';
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

/** Another process may change the store at the same time: the registration of a stream task is in it too. */
const MAX_RETRIES = 2;
const PAUSE_MS = 100;
const WRITE_TIMEOUT_MS = 30_000;

/**
 * Makes the key-value store hold the hashes of the secret's access keys, and no others.
 * @throws SettingError that contains no part of a key, when the secret has none or an invalid one: the store stays as
 * it is
 */
export async function syncAccessKeys({ readSecret, store, log }: SyncOptions) {
  const text = (await readSecret()) ?? '';
  const keys = parseKeys('accessKeysSecret', text.trim().split(/[\s,]+/));
  const wanted = new Map(keys.map(({ id, hash }) => [id, hash]));
  const outcome = await apply(wanted, store);
  log.info('Access keys applied', outcome);
  return outcome;
}

/** Removes all access keys from the store. */
export const removeAccessKeys = ({ store }: Pick<SyncOptions, 'store'>) => apply(new Map(), store);

/** Makes the store hold these hashes by id, and no others. */
function apply(wanted: ReadonlyMap<string, string>, store: KeyStore) {
  const write = async () => {
    const present = await store.entries();
    const added = new Map([...wanted].filter(([id, hash]) => present.get(id) !== hash));
    const removed = [...present.keys()].filter((id) => !wanted.has(id));
    if (added.size + removed.length > 0) await store.change(added, removed);
    return { keys: wanted.size, added: added.size, removed: removed.length };
  };
  const signal = AbortSignal.timeout(WRITE_TIMEOUT_MS);
  return withRetries(write, {
    isPassing: () => true,
    pauseMs: PAUSE_MS,
    maxRetries: MAX_RETRIES,
    signal,
  });
}
