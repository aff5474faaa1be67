import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { callTimeout } from './table.ts';

/** An exclusive right with an expiry, so that a crashed owner does not block others. */
export interface Lease {
  readonly owner: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** One lease, stored as an item of the table. */
export interface LeaseItem<T extends Lease> {
  /** The current lease; undefined once expired. */
  get(): Promise<T | undefined>;
  /**
   * Acquires or renews the lease. False if another owner holds it.
   * @param from an owner to take it over from, after that owner was found to have failed
   */
  acquire(lease: T, from?: string): Promise<boolean>;
  /** Releases the lease if this owner still holds it. */
  release(owner: string): Promise<void>;
}

/** Options of `createLeaseItem`. */
export interface LeaseItemOptions<T extends Lease> {
  readonly table: DynamoDBDocumentClient;
  readonly tableName: string;
  readonly pk: string;
  /** Parses an item; undefined if it is no such lease. */
  readonly read: (item: Readonly<Record<string, unknown>>) => T | undefined;
  /** Epoch seconds. */
  readonly now: () => number;
}

/** Creates access to one lease. */
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

/** True after a conditional write, false if its condition failed. */
export async function succeedsIfConditionHolds(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
