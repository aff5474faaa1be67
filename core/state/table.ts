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

/** Milliseconds for one attempt, from when it is sent. */
const ATTEMPT_TIMEOUT_MS = 2_000;
/** Milliseconds for which an attempt waits to be sent in a rush, and for a call with all that. */
const WAIT_TIMEOUT_MS = 15_000;
const CALL_TIMEOUT_MS = 20_000;
/**
 * Calls sent at once. A table of this machine answers one after the other, some hundreds a second: a thousand sent at
 * once would all time out, and be sent again.
 */
const CALLS_AT_ONCE = { embedded: 16, aws: 128 };

/**
 * A client that fails within seconds when the table does not answer. In a rush calls wait for those before them, within
 * a bound, before their own seconds begin.
 * @param config with an `endpoint` alone, a table of this machine is meant: region and credentials are made up
 */
export function createTableClient(config: DynamoDBClientConfig = {}): DynamoDBClient {
  const embedded = config.endpoint && {
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
  const atOnce = embedded ? CALLS_AT_ONCE.embedded : CALLS_AT_ONCE.aws;
  const turns = createSemaphore({ permits: atOnce, maxWaitMs: WAIT_TIMEOUT_MS });
  const client = new DynamoDBClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: ATTEMPT_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpsAgent: { keepAlive: true, maxSockets: atOnce },
      httpAgent: { keepAlive: true, maxSockets: atOnce },
    },
    ...embedded,
    ...config,
  });
  const inTurn =
    <Arguments, Result>(next: (call: Arguments) => Promise<Result>) =>
    async (call: Arguments): Promise<Result> => {
      const release = await turns.acquire();
      try {
        return await next(call);
      } finally {
        release();
      }
    };
  // Behind the retries: each attempt takes a turn of its own.
  client.middlewareStack.add(inTurn, { step: 'deserialize', priority: 'high', name: 'inTurn' });
  return client;
}

/** Ends a call that its client would let run on. */
export const callTimeout = (): { readonly abortSignal: AbortSignal } => ({
  abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS),
});

/**
 * Creates the table when there is none: one string key `pk`, paid by use, items deleted some time after their
 * `expiresAt`. In AWS the stack does this; here it is for a table of this machine.
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
    // The embedded table has no TTL; it is purged by whoever starts it.
    if ((error as Error).name !== 'UnknownOperationException') throw error;
  }
}
