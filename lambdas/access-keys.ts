import {
  type CloudFrontKeyValueStoreClient,
  DescribeKeyValueStoreCommand,
  paginateListKeys,
  UpdateKeysCommand,
} from '@aws-sdk/client-cloudfront-keyvaluestore';
import '@aws-sdk/signature-v4a';
import { withRetries } from '@reelay/concurrency';
import { parseKeys } from '../core/config/index.ts';
import type { Log } from '../core/log/index.ts';

// Registers the SigV4A signer: requests of the key-value store are signed for all regions.

/** See `createKeyStore`. */
export type KeyStore = ReturnType<typeof createKeyStore>;

interface KeyStoreOptions {
  readonly client: CloudFrontKeyValueStoreClient;
  readonly storeArn: string;
  readonly prefix: string;
}

/** Changes of one call (quota of CloudFront). */
const MAX_CHANGES = 50;

/** The entries of a CloudFront key-value store whose names have a prefix. Methods throw the errors of the AWS SDK. */
export const createKeyStore = ({ client, storeArn: KvsARN, prefix }: KeyStoreOptions) => ({
  async entries(): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    for await (const { Items = [] } of paginateListKeys({ client }, { KvsARN }))
      for (const { Key = '', Value = '' } of Items)
        if (Key.startsWith(prefix)) found.set(Key.slice(prefix.length), Value);
    return found;
  },
  /** Fails when the store is changed by another process at the same time. */
  async change(puts: ReadonlyMap<string, string>, deletes: readonly string[]): Promise<void> {
    let { ETag: IfMatch } = await client.send(new DescribeKeyValueStoreCommand({ KvsARN }));
    const changes = [
      ...Array.from(puts, ([name, Value]) => ({ Puts: [{ Key: prefix + name, Value }], Deletes: [] })),
      ...deletes.map((name) => ({ Puts: [], Deletes: [{ Key: prefix + name }] })),
    ];
    for (let start = 0; start < changes.length; start += MAX_CHANGES) {
      const part = changes.slice(start, start + MAX_CHANGES);
      const update = { Puts: part.flatMap(({ Puts }) => Puts), Deletes: part.flatMap(({ Deletes }) => Deletes) };
      ({ ETag: IfMatch } = await client.send(new UpdateKeysCommand({ KvsARN, IfMatch, ...update })));
    }
  },
});

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
