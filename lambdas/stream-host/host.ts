import {
  CloudFrontKeyValueStoreClient,
  DeleteKeyCommand,
  DescribeKeyValueStoreCommand,
  GetKeyCommand,
  PutKeyCommand,
} from '@aws-sdk/client-cloudfront-keyvaluestore';
import { DescribeServicesCommand, ECSClient, UpdateServiceCommand } from '@aws-sdk/client-ecs';
import '@aws-sdk/signature-v4a';

/** Retries and timeouts of AWS clients. Short, since a stream waits for every call. */
export const clientBounds = {
  maxAttempts: 2,
  /** Milliseconds. */
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
} as const;

interface HostServiceOptions {
  readonly ecs?: ECSClient;
  readonly cluster: string;
  readonly service: string;
}

/** `woken`: a task was ordered now. `starting`: ECS starts the one that was ordered before. */
export type HostActivity = 'woken' | 'starting' | 'running';

/** See `createHostService`. */
export type HostService = ReturnType<typeof createHostService>;

/**
 * The ECS service of the stream host, which has one task or none. ECS replaces a task that stops or is outdated. Methods throw the
 * errors of the AWS SDK.
 */
export function createHostService({ ecs = new ECSClient(clientBounds), cluster, service }: HostServiceOptions) {
  const read = async () => {
    const { services = [] } = await ecs.send(new DescribeServicesCommand({ cluster, services: [service] }));
    const [found] = services;
    if (found?.status !== 'ACTIVE') throw new Error(`ECS has no active service ${service}`);
    return found;
  };
  const want = async (desiredCount: number): Promise<void> => {
    await ecs.send(new UpdateServiceCommand({ cluster, service, desiredCount }));
  };
  return {
    /** Orders a task where none is wanted. */
    async wake(): Promise<HostActivity> {
      const { desiredCount, runningCount } = await read();
      if (desiredCount) return runningCount ? 'running' : 'starting';
      await want(1);
      return 'woken';
    },
    isWanted: async () => Boolean((await read()).desiredCount),
    stop: () => want(0),
  };
}

// Registers the SigV4A signer: requests of the key-value store are signed for all regions.

/** See `createHostStore`. */
export type HostStore = ReturnType<typeof createHostStore>;

interface HostStoreOptions {
  readonly client?: CloudFrontKeyValueStoreClient;
  readonly storeArn: string;
  readonly key: string;
}

/** The store has several writers, and each write changes the version that the next one must name. */
const MAX_ATTEMPTS = 5;

/** One key of a CloudFront key-value store. Calls are billed one by one, at a tenth of a cent. Methods throw the errors of the AWS SDK. */
export function createHostStore({
  client = new CloudFrontKeyValueStoreClient(clientBounds),
  storeArn: KvsARN,
  key: Key,
}: HostStoreOptions) {
  const send = (Value: string | undefined, IfMatch: string) => {
    const change = { KvsARN, Key, IfMatch };
    if (Value === undefined) return client.send(new DeleteKeyCommand(change));
    return client.send(new PutKeyCommand({ ...change, Value }));
  };
  const writeTo = async (version: string, value: string | undefined): Promise<string | undefined> => {
    try {
      return known((await send(value, version)).ETag);
    } catch (error) {
      if (isOutdated(error)) return undefined;
      if (value === undefined && isMissing(error)) return version;
      throw error;
    }
  };
  return {
    storeArn: KvsARN,
    /** Undefined: the store does not have the key. */
    async read(): Promise<string | undefined> {
      try {
        return (await client.send(new GetKeyCommand({ KvsARN, Key }))).Value;
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    /** `write` with one call. @returns undefined when the store has another version than this one */
    writeTo,
    /**
     * Writes the value, or removes the key when it is undefined.
     * @returns the store's new version
     * @throws Error when other writers win each time
     */
    async write(value: string | undefined): Promise<string> {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const { ETag } = await client.send(new DescribeKeyValueStoreCommand({ KvsARN }));
        const written = await writeTo(known(ETag), value);
        if (written) return written;
      }
      throw new Error('Key-value store changed concurrently on every attempt');
    },
  };
}

function known(version: string | undefined): string {
  if (!version) throw new Error('Key-value store response without an ETag');
  return version;
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : '');

const isMissing = (error: unknown) => nameOf(error) === 'ResourceNotFoundException';

/** A conflict by documentation; the store also reports it as a failed validation of the precondition. */
const isOutdated = (error: unknown): boolean =>
  nameOf(error) === 'ConflictException' ||
  (nameOf(error) === 'ValidationException' && /pre-?condition|e-?tag|if-?match/i.test((error as Error).message));
