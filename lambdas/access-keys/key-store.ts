// Registers the SigV4A signer: requests of the key-value store are signed for all regions.
import '@aws-sdk/signature-v4a';
import {
  type CloudFrontKeyValueStoreClient,
  DescribeKeyValueStoreCommand,
  paginateListKeys,
  UpdateKeysCommand,
} from '@aws-sdk/client-cloudfront-keyvaluestore';

/** The entries of a CloudFront key-value store whose names have a prefix. Methods throw the errors of the AWS SDK. */
export interface KeyStore {
  entries(): Promise<ReadonlyMap<string, string>>;
  /** Fails when the store is changed by another process at the same time. */
  change(puts: ReadonlyMap<string, string>, deletes: readonly string[]): Promise<void>;
}

export interface KeyStoreOptions {
  readonly client: CloudFrontKeyValueStoreClient;
  readonly storeArn: string;
  readonly prefix: string;
}

/** Changes of one call (quota of CloudFront). */
const MAX_CHANGES = 50;

type Change = { readonly Key: string; readonly Value?: string };

export function createKeyStore({ client, storeArn: KvsARN, prefix }: KeyStoreOptions): KeyStore {
  return {
    async entries() {
      const found = new Map<string, string>();
      for await (const { Items = [] } of paginateListKeys({ client }, { KvsARN }))
        for (const { Key = '', Value = '' } of Items)
          if (Key.startsWith(prefix)) found.set(Key.slice(prefix.length), Value);
      return found;
    },
    async change(puts, deletes) {
      let { ETag: IfMatch } = await client.send(new DescribeKeyValueStoreCommand({ KvsARN }));
      const changes: Change[] = [
        ...Array.from(puts, ([name, Value]) => ({ Key: prefix + name, Value })),
        ...deletes.map((name) => ({ Key: prefix + name })),
      ];
      for (let start = 0; start < changes.length; start += MAX_CHANGES) {
        const part = changes.slice(start, start + MAX_CHANGES);
        const Puts = part.flatMap(({ Key, Value }) => (Value === undefined ? [] : [{ Key, Value }]));
        const Deletes = part.flatMap(({ Key, Value }) => (Value === undefined ? [{ Key }] : []));
        ({ ETag: IfMatch } = await client.send(new UpdateKeysCommand({ KvsARN, IfMatch, Puts, Deletes })));
      }
    },
  };
}
