// The store's requests are signed for every region at once (SigV4A); the client finds the signer by this import.
import '@aws-sdk/signature-v4a';
import {
  type CloudFrontKeyValueStoreClient,
  DeleteKeyCommand,
  DescribeKeyValueStoreCommand,
  GetKeyCommand,
  PutKeyCommand,
} from '@aws-sdk/client-cloudfront-keyvaluestore';

/** One key of a CloudFront key-value store. */
export interface HostStore {
  read(): Promise<HostRecord>;
  /** Undefined removes it. False when somebody else has changed the store since it was read. */
  write(value: string | undefined, version: string): Promise<boolean>;
}

export interface HostRecord {
  readonly value: string | undefined;
  /** Of the store as a whole. */
  readonly version: string;
}

export interface HostStoreOptions {
  readonly client: CloudFrontKeyValueStoreClient;
  readonly storeArn: string;
  readonly key: string;
}

export function createHostStore({ client, storeArn: KvsARN, key: Key }: HostStoreOptions): HostStore {
  const readValue = async () => {
    try {
      return (await client.send(new GetKeyCommand({ KvsARN, Key }))).Value;
    } catch (error) {
      if (nameOf(error) === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  };
  return {
    read: async () => {
      // The version first: a change in between makes the write fail, rather than undo it.
      const { ETag } = await client.send(new DescribeKeyValueStoreCommand({ KvsARN }));
      if (!ETag) throw new Error('The key-value store has no version');
      return { version: ETag, value: await readValue() };
    },
    write: async (Value, IfMatch) => {
      try {
        if (Value === undefined) await client.send(new DeleteKeyCommand({ KvsARN, Key, IfMatch }));
        else await client.send(new PutKeyCommand({ KvsARN, Key, Value, IfMatch }));
        return true;
      } catch (error) {
        if (isOutdated(error)) return false;
        throw error;
      }
    },
  };
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '');

/** Documented as a conflict; the store also words it as a failed validation of the precondition. */
const isOutdated = (error: unknown): boolean =>
  nameOf(error) === 'ConflictException' ||
  (nameOf(error) === 'ValidationException' && /pre-?condition|e-?tag|if-?match/i.test((error as Error).message));
