import { join } from 'node:path';
import { createDynamoDbStorage } from '../../../core/state/dynamodb/index.ts';
import { openSqliteStorage } from '../../../core/state/sqlite/sqlite-storage.ts';
import type { StateStorage } from '../../../core/state/storage.ts';
import { ensureTable, startDynamoDb } from '../../support/dynamodb.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** An empty table for each call of `open`. */
export interface StorageFixture {
  open(now: () => number): Promise<StateStorage>;
  close(): Promise<void>;
}

/** The implementations that the conformance suite runs against. */
export const STORAGES: Readonly<Record<string, () => Promise<StorageFixture>>> = {
  async DynamoDB() {
    const dynamoDb = await startDynamoDb();
    let tables = 0;
    return {
      async open() {
        const tableName = `state-${tables++}`;
        await ensureTable(dynamoDb.client, tableName);
        return createDynamoDbStorage({ client: dynamoDb.client, tableName });
      },
      close: dynamoDb.close,
    };
  },
  async SQLite() {
    const root = await temporaryFolder();
    const opened: { close(): void }[] = [];
    return {
      async open(now) {
        const storage = openSqliteStorage({ dir: join(root, String(opened.length)), now });
        opened.push(storage);
        return storage;
      },
      async close() {
        for (const each of opened) each.close();
      },
    };
  },
};
