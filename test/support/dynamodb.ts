import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { createTableClient } from '../../core/state/dynamodb/index.ts';
import { listen } from './listen.ts';

/** DynamoDB's API in this process, with tables in memory. */
export async function startDynamoDb() {
  const server = dynalite({ createTableMs: 0 });
  const { url: endpoint, close } = await listen(server);
  const client = createLocalTableClient(endpoint);
  return {
    endpoint,
    client,
    close: () => {
      client.destroy();
      return close();
    },
  };
}

/**
 * Creates a client for dynalite, which accepts any region and credentials and serves one call at a time: more concurrent
 * calls would time out on a busy machine and be retried.
 */
export const createLocalTableClient = (endpoint: string, maxConcurrentCalls = 16): DynamoDBClient =>
  createTableClient(
    { endpoint, region: 'local', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } },
    maxConcurrentCalls,
  );

/** Creates a table like the one of the stack unless it exists. */
export async function ensureTable(client: DynamoDBClient, tableName: string): Promise<void> {
  const command = new CreateTableCommand({
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  });
  try {
    await client.send(command);
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.1, maxDelay: 2 }, { TableName: tableName });
}
