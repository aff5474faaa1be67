import { randomInt } from 'node:crypto';
import { ConditionalCheckFailedException, DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { createSemaphore } from '@reelay/concurrency';
import type { StateStorage, StoredItem } from '../storage.ts';

/** Options of `createDynamoDbStorage`. */
interface DynamoDbStorageOptions {
  readonly tableName: string;
  /** @default a client for the region and the credentials of the environment */
  readonly client?: DynamoDBClient;
}

/**
 * Creates the storage over one DynamoDB table with the string key `pk` and the TTL attribute `expiresAt`. Reads are
 * consistent; a call rejects if the table does not respond within 20 seconds.
 */
export function createDynamoDbStorage({
  tableName,
  client = createTableClient(),
}: DynamoDbStorageOptions): StateStorage {
  const table = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const counter = createCounter(table, tableName);

  return {
    get: async (pk) => {
      const command = new GetCommand({ TableName: tableName, Key: { pk }, ConsistentRead: true });
      return (await table.send(command, callTimeout())).Item as StoredItem | undefined;
    },
    put: async (item) => {
      await table.send(new PutCommand({ TableName: tableName, Item: item }), callTimeout());
    },
    putIf: (item, { expiredAt, owners = [] }) => {
      const isExpired = expiredAt === undefined ? [] : [condition('expiresAt', '<=', expiredAt)];
      const isOwned = owners.map((owner) => condition('owner', '=', owner));
      const command = new PutCommand({ TableName: tableName, Item: item, ...absentOrAny([...isExpired, ...isOwned]) });
      return succeedsIfConditionHolds(table.send(command, callTimeout()));
    },
    extend: async (pk, { after, upTo, expiresAt }) => {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { pk },
        UpdateExpression: 'SET #expiresAt = :until',
        ConditionExpression: '#expiresAt > :after AND #expiresAt <= :upTo',
        ExpressionAttributeNames: { '#expiresAt': 'expiresAt' },
        ExpressionAttributeValues: { ':after': after, ':upTo': upTo, ':until': expiresAt },
      });
      await succeedsIfConditionHolds(table.send(command, callTimeout()));
    },
    annotate: async (pk, { name, value, after }) => {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { pk },
        UpdateExpression: 'SET #name = :value',
        ConditionExpression: '#expiresAt > :after',
        ExpressionAttributeNames: { '#name': name, '#expiresAt': 'expiresAt' },
        ExpressionAttributeValues: { ':value': value, ':after': after },
      });
      await succeedsIfConditionHolds(table.send(command, callTimeout()));
    },
    add: async (pk, amount, expiresAt) => {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { pk },
        UpdateExpression: 'ADD #n :amount SET #expiresAt = :expiresAt',
        ExpressionAttributeNames: { '#n': 'n', '#expiresAt': 'expiresAt' },
        ExpressionAttributeValues: { ':amount': amount, ':expiresAt': expiresAt },
        ReturnValues: 'UPDATED_NEW',
      });
      return Number((await table.send(command, callTimeout())).Attributes?.n);
    },
    deleteOwned: async (pk, owner) => {
      const command = new DeleteCommand({
        TableName: tableName,
        Key: { pk },
        ConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': owner },
      });
      await succeedsIfConditionHolds(table.send(command, callTimeout()));
    },
    addRequest: counter.add,
    countRequests: counter.sum,
    requireSpace: async () => undefined,
  };
}

/** True after a conditional write, false if its condition failed. */
async function succeedsIfConditionHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}

/** A comparison of an attribute of the existing item. */
interface Condition {
  readonly attribute: string;
  readonly operator: '=' | '<=';
  readonly value: string | number;
}

const condition = (attribute: string, operator: Condition['operator'], value: Condition['value']): Condition => ({
  attribute,
  operator,
  value,
});

/** Holds where there is no item, or any of the conditions applies to it. */
function absentOrAny(conditions: readonly Condition[]) {
  const comparisons = conditions.map(({ attribute, operator }, index) => `#${attribute} ${operator} :value${index}`);
  const ConditionExpression = ['attribute_not_exists(pk)', ...comparisons].join(' OR ');
  // DynamoDB rejects empty maps.
  if (conditions.length === 0) return { ConditionExpression };
  return {
    ConditionExpression,
    ExpressionAttributeNames: Object.fromEntries(conditions.map(({ attribute }) => [`#${attribute}`, attribute])),
    ExpressionAttributeValues: Object.fromEntries(conditions.map(({ value }, index) => [`:value${index}`, value])),
  };
}

/** Items that share the count, because DynamoDB limits one item to 1,000 writes per second. */
const SHARDS = 16;
const KEYS = Array.from({ length: SHARDS }, (_, shard) => ({ pk: `count#${shard}` }));

/** BatchGet attempts for keys that a throttled table returns unprocessed. */
const MAX_READ_ATTEMPTS = 3;

/** A counter for concurrent writers. */
export interface Counter {
  add(): Promise<void>;
  sum(): Promise<number>;
}

/** Creates a counter over the items `count#0` to `count#15`. */
export function createCounter(table: DynamoDBDocumentClient, tableName: string): Counter {
  const read = async (keys: readonly { pk: string }[], attempts: number): Promise<number> => {
    const request = { [tableName]: { Keys: [...keys], ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = await table.send(
      new BatchGetCommand({ RequestItems: request }),
      callTimeout(),
    );
    const sum = (Responses?.[tableName] ?? []).reduce((total, item) => total + Number(item.n ?? 0), 0);
    const unprocessed = (UnprocessedKeys?.[tableName]?.Keys ?? []) as { pk: string }[];
    if (unprocessed.length === 0) return sum;
    if (attempts <= 1) throw new Error('Shards of the count remained unprocessed');
    return sum + (await read(unprocessed, attempts - 1));
  };

  return {
    add: async () => {
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { pk: `count#${randomInt(SHARDS)}` },
        UpdateExpression: 'ADD #n :one',
        ExpressionAttributeNames: { '#n': 'n' },
        ExpressionAttributeValues: { ':one': 1 },
      });
      await table.send(command, callTimeout());
    },
    sum: () => read(KEYS, MAX_READ_ATTEMPTS),
  };
}

/** Bounds one attempt from the moment it is sent. */
const ATTEMPT_TIMEOUT_MS = 2_000;
/** Bound the wait for a permit to send, and a whole call with its attempts. */
const WAIT_TIMEOUT_MS = 15_000;
const CALL_TIMEOUT_MS = 20_000;
const MAX_CONCURRENT_CALLS = 128;

/**
 * Creates a client with short timeouts and bounded concurrency. The timeout of an attempt starts when it is sent; before
 * that it waits for a permit: of a thousand concurrent calls to a slow table most would time out and be retried.
 */
export function createTableClient(
  config: DynamoDBClientConfig = {},
  maxConcurrentCalls = MAX_CONCURRENT_CALLS,
): DynamoDBClient {
  const semaphore = createSemaphore({ permits: maxConcurrentCalls });
  const client = new DynamoDBClient({
    maxAttempts: 2,
    requestHandler: {
      connectionTimeout: 1_000,
      requestTimeout: ATTEMPT_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpsAgent: { keepAlive: true, maxSockets: maxConcurrentCalls },
      httpAgent: { keepAlive: true, maxSockets: maxConcurrentCalls },
    },
    ...config,
  });
  const limitConcurrency =
    <Arguments, Result>(next: (call: Arguments) => Promise<Result>) =>
    async (call: Arguments): Promise<Result> => {
      const { release } = await semaphore.acquire('', AbortSignal.timeout(WAIT_TIMEOUT_MS));
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
