import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { StateUnavailable } from '../errors/index.ts';
import { type Log, silentLog } from '../log/index.ts';
import { createCounter } from './counter.ts';
import { ItemTooLarge, MAX_ITEM_BYTES, type PackedItem, packItem, unpackItem } from './item.ts';
import { createLeaseItem, succeedsIfConditionHolds } from './lease-item.ts';
import { readLease, readMaintenance, readStreamTask } from './leases.ts';
import type { Link, Resource } from './resource.ts';
import type { State, ToolsRecord } from './state.ts';
import { callTimeout, createTableClient } from './table.ts';

/** Options of `createState`. */
export interface StateOptions {
  /** A client, or its configuration: `{ endpoint }` for the embedded table, `{}` in AWS. */
  readonly client: DynamoDBClient | DynamoDBClientConfig;
  readonly tableName: string;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
  readonly log?: Log;
}

/** Lifetime of a resource after a touch, and the minimum interval between the writes of touches. */
const RESOURCE_TTL_SECONDS = 24 * 3600;
const TOUCH_INTERVAL_SECONDS = 3600;

/**
 * Creates the state over one DynamoDB table. Reads are consistent; every call throws `StateUnavailable` if the table does
 * not respond within 20 seconds.
 */
export function createState({ client, tableName, now = Date.now, log = silentLog }: StateOptions): State {
  const base = client instanceof DynamoDBClient ? client : createTableClient(client);
  const table = DynamoDBDocumentClient.from(base, { marshallOptions: { removeUndefinedValues: true } });
  const counter = createCounter(table, tableName);
  const seconds = () => Math.floor(now() / 1000);
  const leaseOptions = { table, tableName, now: seconds };
  const maintenance = createLeaseItem({ ...leaseOptions, pk: 'maintenance', read: readMaintenance });
  const streamTask = createLeaseItem({ ...leaseOptions, pk: 'stream-task', read: readStreamTask });
  const toolsUpdate = createLeaseItem({ ...leaseOptions, pk: 'tools-update', read: readLease });

  const get = async (pk: string) => {
    const command = new GetCommand({ TableName: tableName, Key: { pk }, ConsistentRead: true });
    return (await table.send(command, callTimeout())).Item;
  };
  const put = async (item: PackedItem) => {
    if (item.data.byteLength > MAX_ITEM_BYTES)
      throw new ItemTooLarge(`${item.pk}: ${item.data.byteLength} bytes compressed`);
    await table.send(new PutCommand({ TableName: tableName, Item: item }), callTimeout());
  };

  const packResource = async (resource: Resource): Promise<PackedItem> => {
    const whole = await packItem(`resource#${resource.id}`, resource);
    if (whole.data.byteLength <= MAX_ITEM_BYTES) return whole;
    log.warn('Storing resource without its DASH fragments: item too large', { id: resource.id });
    const tracks = resource.tracks.map(({ fragments: _, ...track }) => track);
    return packItem(whole.pk, { ...resource, tracks } as Resource);
  };

  const state: State = {
    getResource: async (id) => unpackItem<Resource>(await get(`resource#${id}`), id, seconds()),
    putResource: async (resource) => put(await packResource(resource)),
    touchResource: async ({ id, expiresAt }) => {
      const time = seconds();
      if (expiresAt > time + RESOURCE_TTL_SECONDS - TOUCH_INTERVAL_SECONDS) return;
      const command = new UpdateCommand({
        TableName: tableName,
        Key: { pk: `resource#${id}` },
        UpdateExpression: 'SET #expiresAt = :until',
        // Excludes expired items, which a touch would restore, and items that a concurrent touch has extended.
        ConditionExpression: '#expiresAt > :now AND #expiresAt <= :stale',
        ExpressionAttributeNames: { '#expiresAt': 'expiresAt' },
        ExpressionAttributeValues: {
          ':now': time,
          ':until': time + RESOURCE_TTL_SECONDS,
          ':stale': time + RESOURCE_TTL_SECONDS - TOUCH_INTERVAL_SECONDS,
        },
      });
      await succeedsIfConditionHolds(table.send(command, callTimeout()));
    },
    getLink: async (id) => unpackItem<Link>(await get(`link#${id}`), id, seconds()),
    putLink: async (link) => put(await packItem(`link#${link.id}`, link)),
    addRequest: counter.add,
    countRequests: counter.sum,
    getTools: async () => (await get('tools'))?.record as ToolsRecord | undefined,
    putTools: async (record) => {
      await table.send(new PutCommand({ TableName: tableName, Item: { pk: 'tools', record } }), callTimeout());
    },
    getMaintenance: maintenance.get,
    takeMaintenance: (lease) => maintenance.acquire(lease),
    endMaintenance: maintenance.release,
    getStreamTask: streamTask.get,
    takeStreamTask: streamTask.acquire,
    endStreamTask: streamTask.release,
    takeToolsUpdate: (lease) => toolsUpdate.acquire(lease),
    endToolsUpdate: toolsUpdate.release,
    keepOriginSecret: async (candidate) => {
      const command = new PutCommand({
        TableName: tableName,
        Item: { pk: 'origin-secret', secret: candidate },
        ConditionExpression: 'attribute_not_exists(pk)',
      });
      if (await succeedsIfConditionHolds(table.send(command, callTimeout()))) return candidate;
      const kept = (await get('origin-secret'))?.secret;
      if (typeof kept !== 'string') throw new Error('Origin secret is not a string');
      return kept;
    },
  };
  return rejectWithStateUnavailable(state);
}

/** Makes every call reject with StateUnavailable, with the client's error as its cause. */
function rejectWithStateUnavailable(state: State): State {
  const guarded = Object.entries(state).map(([name, call]: [string, (...args: never[]) => Promise<unknown>]) => [
    name,
    (...args: never[]) =>
      call(...args).catch((cause: unknown) => {
        if (cause instanceof ItemTooLarge) throw cause;
        throw new StateUnavailable(`State table call failed: ${name}`, { cause });
      }),
  ]);
  return Object.fromEntries(guarded) as State;
}
