import { randomInt } from 'node:crypto';
import { BatchGetCommand, type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { callTimeout } from './table.ts';

/** Items that share the count: one item takes 1,000 writes a second (DynamoDB's partition limit), sixteen take more. */
const SHARDS = 16;
const KEYS = Array.from({ length: SHARDS }, (_, shard) => ({ pk: `count#${shard}` }));

/** Rounds of asking for what a busy table left unanswered. */
const ROUNDS = 3;

/** A count that many may add to at once. */
export interface Counter {
  add(): Promise<void>;
  sum(): Promise<number>;
}

export function createCounter(table: DynamoDBDocumentClient, tableName: string): Counter {
  const read = async (keys: readonly { pk: string }[], rounds: number): Promise<number> => {
    const request = { [tableName]: { Keys: [...keys], ConsistentRead: true } };
    const { Responses, UnprocessedKeys } = await table.send(
      new BatchGetCommand({ RequestItems: request }),
      callTimeout(),
    );
    const sum = (Responses?.[tableName] ?? []).reduce((total, item) => total + Number(item.n ?? 0), 0);
    const left = (UnprocessedKeys?.[tableName]?.Keys ?? []) as { pk: string }[];
    if (left.length === 0) return sum;
    if (rounds <= 1) throw new Error('The table left shards of the count unread');
    return sum + (await read(left, rounds - 1));
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
    sum: () => read(KEYS, ROUNDS),
  };
}
