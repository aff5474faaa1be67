import { randomInt } from 'node:crypto';
import { BatchGetCommand, type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { callTimeout } from './table-client.ts';

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
