import { ConditionalCheckFailedException, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { StateStorage, StoredItem } from '../storage.ts';
import { createCounter } from './counter.ts';
import { callTimeout, createTableClient } from './table-client.ts';

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
