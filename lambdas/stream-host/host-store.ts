// Registers the SigV4A signer: requests of the key-value store are signed for all regions.
import '@aws-sdk/signature-v4a';
import {
  type CloudFrontKeyValueStoreClient,
  DeleteKeyCommand,
  DescribeKeyValueStoreCommand,
  PutKeyCommand,
} from '@aws-sdk/client-cloudfront-keyvaluestore';

/** One key of a CloudFront key-value store. Calls are billed one by one, at a tenth of a cent. */
export interface HostStore {
  /** The ETag of the whole store. */
  version(): Promise<string>;
  /**
   * Writes the value, or removes the key when it is undefined.
   * @param version the version that the store must still have
   * @returns the store's new version; undefined when the store has changed since `version`
   */
  write(value: string | undefined, version: string): Promise<string | undefined>;
}

export interface HostStoreOptions {
  readonly client: CloudFrontKeyValueStoreClient;
  readonly storeArn: string;
  readonly key: string;
}

/** @returns the store that holds the registration of the stream host. Its methods throw the errors of the AWS SDK */
export function createHostStore({ client, storeArn: KvsARN, key: Key }: HostStoreOptions): HostStore {
  const write = async (Value: string | undefined, IfMatch: string) => {
    if (Value !== undefined) return client.send(new PutKeyCommand({ KvsARN, Key, Value, IfMatch }));
    return client.send(new DeleteKeyCommand({ KvsARN, Key, IfMatch }));
  };
  return {
    version: async () => known((await client.send(new DescribeKeyValueStoreCommand({ KvsARN }))).ETag),
    write: async (value, version) => {
      try {
        return known((await write(value, version)).ETag);
      } catch (error) {
        if (isOutdated(error)) return undefined;
        if (value === undefined && nameOf(error) === 'ResourceNotFoundException') return version;
        throw error;
      }
    },
  };
}

function known(version: string | undefined): string {
  if (!version) throw new Error('Key-value store response without an ETag');
  return version;
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '');

/** A conflict by documentation; the store also reports it as a failed validation of the precondition. */
const isOutdated = (error: unknown): boolean =>
  nameOf(error) === 'ConflictException' ||
  (nameOf(error) === 'ValidationException' && /pre-?condition|e-?tag|if-?match/i.test((error as Error).message));
