import {
  CreateTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { createSemaphore } from '../concurrency/index.ts';
import { StateUnavailable } from '../errors/index.ts';

/** For one attempt, from the moment it is sent. */
const ATTEMPT_TIMEOUT_MS = 2_000;
/** For waiting for a permit to send, and for a whole call with its attempts. */
const WAIT_TIMEOUT_MS = 15_000;
const CALL_TIMEOUT_MS = 20_000;
/**
 * Concurrent calls. The embedded table serves one call at a time, some hundreds per second: of a thousand concurrent calls
 * most would time out and be retried.
 */
const MAX_CONCURRENT_CALLS = { embedded: 16, aws: 128 };

/**
 * Creates a client with short timeouts and bounded concurrency. The timeout of an attempt starts when it is sent; before
 * that it waits for a permit.
 * @param config an `endpoint` selects the embedded table, for which region and credentials are placeholders
 */
export function createTableClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const embedded = config.endpoint && {
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
  const maxCalls = embedded ? MAX_CONCURRENT_CALLS.embedded : MAX_CONCURRENT_CALLS.aws;
  const semaphore = createSemaphore({ permits: maxCalls, maxWaitMs: WAIT_TIMEOUT_MS });
  const client = new DynamoDBClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: ATTEMPT_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpsAgent: { keepAlive: true, maxSockets: maxCalls },
      httpAgent: { keepAlive: true, maxSockets: maxCalls },
    },
    ...embedded,
    ...config,
  });
  const limitConcurrency =
    <Arguments, Result>(next: (call: Arguments) => Promise<Result>) =>
    async (call: Arguments): Promise<Result> => {
      const release = await semaphore.acquire();
      try {
        return await next(call);
      } finally {
        release();
      }
    };
  // Added after the retry middleware, so that each attempt acquires its own permit.
  client.middlewareStack.add(limitConcurrency, { step: 'deserialize', priority: 'high', name: 'limitConcurrency' });
  return client;
}

/** Options that abort a call after CALL_TIMEOUT_MS: the client bounds single attempts only. */
export const callTimeout = (): { readonly abortSignal: AbortSignal } => ({
  abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS),
});

/**
 * Creates the table if it does not exist: string key `pk`, on-demand capacity, TTL attribute `expiresAt`. For the embedded
 * table; in AWS the stack creates it.
 * @throws StateUnavailable
 */
export async function ensureTable(client: DynamoDBClient, tableName: string): Promise<void> {
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      }),
      callTimeout(),
    );
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.1, maxDelay: 2 }, { TableName: tableName });
    await expireItems(client, tableName);
  } catch (cause) {
    if (cause instanceof ResourceInUseException) return;
    throw new StateUnavailable('The state table could not be created', { cause });
  }
}

async function expireItems(client: DynamoDBClient, tableName: string): Promise<void> {
  const TimeToLiveSpecification = { AttributeName: 'expiresAt', Enabled: true };
  try {
    await client.send(new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification }), callTimeout());
  } catch (error) {
    // The embedded table does not implement TTL; the service on one machine purges it.
    if ((error as Error).name !== 'UnknownOperationException') throw error;
  }
}
