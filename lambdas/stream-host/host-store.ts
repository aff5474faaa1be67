// The store's requests are signed for every region at once (SigV4A); the client finds the signer by this import.
import '@aws-sdk/signature-v4a';
import {
  type CloudFrontKeyValueStoreClient,
  DeleteKeyCommand,
  DescribeKeyValueStoreCommand,
  PutKeyCommand,
} from '@aws-sdk/client-cloudfront-keyvaluestore';

/** One key of a CloudFront key-value store. Every call costs a tenth of a cent: none is made without need. */
export interface HostStore {
  /** Of the store as a whole. */
  version(): Promise<string>;
  /**
   * Undefined removes the key. Gives the store's new version, or undefined when somebody else has changed the store since
   * it had that version.
   */
  write(value: string | undefined, version: string): Promise<string | undefined>;
}

export interface HostStoreOptions {
  readonly client: CloudFrontKeyValueStoreClient;
  readonly storeArn: string;
  readonly key: string;
}

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
  if (!version) throw new Error('The key-value store did not say its version');
  return version;
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '');

/** Documented as a conflict; the store also words it as a failed validation of the precondition. */
const isOutdated = (error: unknown): boolean =>
  nameOf(error) === 'ConflictException' ||
  (nameOf(error) === 'ValidationException' && /pre-?condition|e-?tag|if-?match/i.test((error as Error).message));
