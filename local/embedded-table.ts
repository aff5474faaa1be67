import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import dynalite from 'dynalite';
import { createTableClient } from '../core/state/index.ts';

/** The version of level that dynalite uses: both open the same store. */
const { Level } = createRequire(createRequire(import.meta.url).resolve('dynalite'))('level') as {
  Level: new (dir: string) => Store;
};

interface Store {
  open(): Promise<void>;
  close(): Promise<void>;
}

/** A DynamoDB-compatible table server in this process, persisted in a folder. */
export interface EmbeddedTable {
  /** `http://127.0.0.1:port`: what a DynamoDB client takes as its endpoint. */
  readonly endpoint: string;
  /** Deletes expired items, as DynamoDB's TTL does. Runs at the start and every hour. */
  purge(): Promise<void>;
  close(): Promise<void>;
}

export interface EmbeddedTableOptions {
  /** Created when missing. Locked: one process at a time can use it. */
  readonly dir: string;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

const PURGE_INTERVAL_MS = 3600 * 1000;

/** @throws Error with a message for the operator when the folder cannot be used or another process uses it */
export async function startEmbeddedTable({ dir, now = Date.now }: EmbeddedTableOptions): Promise<EmbeddedTable> {
  const items = join(dir, 'items');
  const lock = await lockFolder(dir, items);
  const server = dynalite({ path: items, createTableMs: 0 });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const client = createTableClient({ endpoint });
  const closing = new AbortController();
  const purge = () => purgeExpired(DynamoDBDocumentClient.from(client), Math.floor(now() / 1000), closing.signal);
  let purging = Promise.resolve();
  // A failure is retried in an hour; expired items read as absent either way.
  const purgeQuietly = () => {
    purging = purge().catch(() => undefined);
  };
  purgeQuietly();
  const timer = setInterval(purgeQuietly, PURGE_INTERVAL_MS).unref();

  return {
    endpoint,
    purge,
    close: async () => {
      clearInterval(timer);
      // Ends the purge between two calls: the store must not be closed during a scan.
      closing.abort();
      await purging;
      client.destroy();
      server.closeAllConnections();
      await new Promise<void>((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())));
      await lock.close();
    },
  };
}

/**
 * Locks the folder with an empty store, and opens the store of the items once to check it: dynalite would end the process
 * for a store that it cannot open.
 */
async function lockFolder(dir: string, items: string): Promise<Store> {
  // Not left to the store: where it cannot create its folder, opening may never settle.
  try {
    createFolder(dir);
    accessSync(dir, constants.W_OK);
  } catch (error) {
    throw folderError(dir, error);
  }
  const lock = new Level(dir);
  try {
    await lock.open();
    const store = new Level(items);
    await store.open();
    await store.close();
    return lock;
  } catch (error) {
    await lock.close();
    throw folderError(dir, error);
  }
}

/** Creates missing parents one by one: `mkdir` with `recursive` loops forever inside /proc. */
function createFolder(dir: string): void {
  try {
    mkdirSync(dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(dir).isDirectory()) return;
    if (code !== 'ENOENT' || existsSync(dirname(dir))) throw error;
    createFolder(dirname(dir));
    createFolder(dir);
  }
}

function folderError(dir: string, error: unknown): Error {
  const { code, message, cause } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  if (cause?.code === 'LEVEL_LOCKED') return new Error(`Another process uses the data folder ${dir}`, { cause: error });
  const reason = cause?.message ?? code ?? message;
  return new Error(`The data folder ${dir} cannot be used: ${reason.split('\n')[0]}`, { cause: error });
}

async function purgeExpired(table: DynamoDBDocumentClient, now: number, signal: AbortSignal): Promise<void> {
  const { TableNames = [] } = await table.send(new ListTablesCommand());
  const condition = {
    ExpressionAttributeNames: { '#expiresAt': 'expiresAt' },
    ExpressionAttributeValues: { ':now': now },
  };
  for (const TableName of TableNames) {
    let from: Record<string, unknown> | undefined;
    do {
      const page = await table.send(
        new ScanCommand({
          TableName,
          ProjectionExpression: 'pk',
          FilterExpression: '#expiresAt <= :now',
          ...condition,
          ...(from && { ExclusiveStartKey: from }),
        }),
      );
      for (const { pk } of page.Items ?? []) {
        if (signal.aborted) return;
        // Conditional: the item may have been renewed since the scan.
        const expired = { ConditionExpression: '#expiresAt <= :now', ...condition };
        await table.send(new DeleteCommand({ TableName, Key: { pk }, ...expired })).catch(ignoreRenewed);
      }
      if (signal.aborted) return;
      from = page.LastEvaluatedKey;
    } while (from);
  }
}

function ignoreRenewed(error: Error): void {
  if (error.name !== 'ConditionalCheckFailedException') throw error;
}
