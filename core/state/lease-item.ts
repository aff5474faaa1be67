import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { callTimeout } from './table.ts';

/** The right to do something alone, until it is given back or runs out: whoever dies with it locks nobody out. */
export interface Lease {
  readonly owner: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** One lease of the table, under a key of its own. */
export interface LeaseItem<T extends Lease> {
  /** The lease in force; an expired one is none. */
  get(): Promise<T | undefined>;
  /**
   * Takes or renews it. False when another owner holds it.
   * @param from another owner that it may be taken from: one that was found dead
   */
  acquire(lease: T, from?: string): Promise<boolean>;
  /** Gives it back if this owner still holds it. */
  release(owner: string): Promise<void>;
}

export interface LeaseItemOptions<T extends Lease> {
  readonly table: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly pk: string;
  /** What stands in an item; undefined when it is no such lease. */
  readonly read: (item: Readonly<Record<string, unknown>>) => T | undefined;
  /** Epoch seconds. */
  readonly now: () => number;
}

export function createLeaseItem<T extends Lease>({
  table,
  tableName,
  pk,
  read,
  now,
}: LeaseItemOptions<T>): LeaseItem<T> {
  return {
    get: async () => {
      const command = new GetCommand({ TableName: tableName, Key: { pk }, ConsistentRead: true });
      const { Item } = await table.send(command, callTimeout());
      const lease = Item && read(Item);
      return lease && lease.expiresAt > now() ? lease : undefined;
    },
    acquire: (lease, from = lease.owner) => {
      const command = new PutCommand({
        TableName: tableName,
        Item: { pk, ...lease },
        ConditionExpression: 'attribute_not_exists(pk) OR #expiresAt <= :now OR #owner = :owner OR #owner = :from',
        ExpressionAttributeNames: { '#expiresAt': 'expiresAt', '#owner': 'owner' },
        ExpressionAttributeValues: { ':now': now(), ':owner': lease.owner, ':from': from },
      });
      return succeedsIfConditionHolds(table.send(command, callTimeout()));
    },
    release: async (owner) => {
      const command = new DeleteCommand({
        TableName: tableName,
        Key: { pk },
        ConditionExpression: '#owner = :owner',
        ExpressionAttributeNames: { '#owner': 'owner' },
        ExpressionAttributeValues: { ':owner': owner },
      });
      await succeedsIfConditionHolds(table.send(command, callTimeout()));
    },
  };
}

/** Whether a conditional write was done. */
export async function succeedsIfConditionHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
