// Registers the SigV4A signer: requests of the key-value store are signed for all regions.
import '@aws-sdk/signature-v4a';
import {
  type CloudFrontKeyValueStoreClient,
  DescribeKeyValueStoreCommand,
  paginateListKeys,
  UpdateKeysCommand,
} from '@aws-sdk/client-cloudfront-keyvaluestore';

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
