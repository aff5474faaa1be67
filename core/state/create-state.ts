import { StateUnavailable, StorageFull } from '../errors/index.ts';
import { type Log, silentLog, withSpan } from '../log/index.ts';
import { createAttachments } from './attachments.ts';
import { createLeaseItem, ItemTooLarge, type Lease, type PackedItem, packItem, unpackItem } from './items.ts';
import { parseKey } from './keys.ts';
import { rotateOriginSecret } from './origin-secrets.ts';
import type { ArchivedList, Link, Resource } from './resource.ts';
import type { MaintenanceLease, State, StreamTaskLease, ToolsRecord } from './state.ts';
import type { StateStorage, StoredItem } from './storage.ts';

/** Options of `createState`. */
export interface StateOptions {
  /** DynamoDB (`core/state/dynamodb`) or SQLite (`core/state/sqlite`). */
  readonly storage: StateStorage;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
  readonly log?: Log;
}

/** Attributes beside the record, which streams add without replacing it, followed by the id of a rendition. */
const EXACT_SIZE_PREFIX = 'exactSize#';

/** Lifetime of a resource after a touch, and the minimum interval between the writes of touches. */
const RESOURCE_TTL_SECONDS = 24 * 3600;
const TOUCH_INTERVAL_SECONDS = 3600;

/** Among the resources: stream hosts may read those, but no links. */
const ARCHIVED_LIST_PREFIX = 'resource#archive#';

/** Creates the state over a table. Reads are consistent; every call throws `StateUnavailable` if the table fails. */
export function createState({ storage, now = Date.now, log = silentLog }: StateOptions): State {
  const seconds = () => Math.floor(now() / 1000);
  const maintenance = createLeaseItem({ storage, now: seconds, pk: 'maintenance', read: readMaintenance });
  const streamTask = createLeaseItem({ storage, now: seconds, pk: 'stream-task', read: readStreamTask });
  const toolsUpdate = createLeaseItem({ storage, now: seconds, pk: 'tools-update', read: readLease });

  /** A table that was lost does not take the tools with it. */
  let recordedTools: ToolsRecord | undefined;

  const attachments = createAttachments({ storage, now: seconds });

  const put = (item: PackedItem) => storage.put({ ...item });

  const packResource = (resource: Resource): Promise<PackedItem> => {
    const pk = `resource#${resource.id}`;
    return packItem(pk, resource).catch((error) => {
      const hasFragments = resource.tracks.some(({ fragments }) => fragments);
      if (!(error instanceof ItemTooLarge) || !hasFragments) throw error;
      log.warn('Storing resource without its DASH fragments: item too large', { id: resource.id });
      const tracks = resource.tracks.map(({ fragments: _, ...track }) => track);
      return packItem(pk, { ...resource, tracks } as Resource);
    });
  };

  /** False: it was touched within the hour. */
  const touch = async (pk: string, expiresAt: number): Promise<boolean> => {
    const time = seconds();
    const staleUntil = time + RESOURCE_TTL_SECONDS - TOUCH_INTERVAL_SECONDS;
    if (expiresAt > staleUntil) return false;
    // Excludes expired items, which a touch would restore, and items that a concurrent touch has extended.
    await storage.extend(pk, { after: time, upTo: staleUntil, expiresAt: time + RESOURCE_TTL_SECONDS });
    return true;
  };

  const state: State = {
    getResource: async (id) => {
      const item = await storage.get(`resource#${id}`);
      const resource = await unpackItem<Resource>(item, id, seconds());
      return resource && withExactSizes(resource, item);
    },
    putResource: async (resource) => put(await packResource(resource)),
    touchResource: async ({ id, expiresAt }) => {
      if (await touch(`resource#${id}`, expiresAt)) await attachments.touchCover(id);
    },
    putExactSize: ({ id }, renditionId, bytes) =>
      storage.annotate(`resource#${id}`, EXACT_SIZE_PREFIX + renditionId, bytes, seconds()),
    getAttachment: attachments.getAttachment,
    putAttachment: attachments.putAttachment,
    getLink: async (id) => unpackItem<Link>(await storage.get(`link#${id}`), id, seconds()),
    putLink: async (link) => put(await packItem(`link#${link.id}`, link)),
    getArchivedList: async (key) =>
      parseKey(key)
        ? unpackItem<ArchivedList>(await storage.get(ARCHIVED_LIST_PREFIX + key), key, seconds())
        : undefined,
    putArchivedList: async (list) => put(await packItem(ARCHIVED_LIST_PREFIX + list.id, list)),
    touchArchivedList: async ({ id, expiresAt }) => {
      await touch(ARCHIVED_LIST_PREFIX + id, expiresAt);
    },
    requireSpace: () => storage.requireSpace(),
    addRequest: () => storage.addRequest(),
    countRequests: () => storage.countRequests(),
    getTools: async () => ((await storage.get('tools'))?.record as ToolsRecord | undefined) ?? recordedTools,
    putTools: async (record) => {
      recordedTools = record;
      await storage.put({ pk: 'tools', record });
    },
    getMaintenance: maintenance.get,
    takeMaintenance: (lease) => maintenance.acquire(lease),
    endMaintenance: maintenance.release,
    getStreamTask: streamTask.get,
    takeStreamTask: streamTask.acquire,
    endStreamTask: streamTask.release,
    takeToolsUpdate: (lease) => toolsUpdate.acquire(lease),
    endToolsUpdate: toolsUpdate.release,
    rotateOriginSecret: (rotation, candidate) => rotateOriginSecret(storage, rotation, candidate),
  };
  return rejectWithStateUnavailable(state);
}

/** Adds the sizes that were stored beside the record. */
function withExactSizes(resource: Resource, item: StoredItem = { pk: '' }): Resource {
  const sizes = Object.entries(item).flatMap(([name, bytes]) =>
    name.startsWith(EXACT_SIZE_PREFIX) && typeof bytes === 'number'
      ? [[name.slice(EXACT_SIZE_PREFIX.length), bytes] as const]
      : [],
  );
  if (sizes.length === 0) return resource;
  return { ...resource, exactSizes: { ...resource.exactSizes, ...Object.fromEntries(sizes) } };
}

/** Calls that only read. */
const READ = /^(get|count|require)/;

/** Makes every call reject with StateUnavailable, with the storage's error as its cause. Writes are spans of the trace. */
function rejectWithStateUnavailable(state: State): State {
  const guarded = Object.entries(state).map(([name, call]: [string, (...args: never[]) => Promise<unknown>]) => {
    const describe = () => ({ attributes: { 'db.operation.name': name } });
    const traced = READ.test(name)
      ? call
      : (...args: never[]) => withSpan(`state ${name}`, () => call(...args), describe);
    return [
      name,
      (...args: never[]) =>
        traced(...args).catch((cause: unknown) => {
          if (cause instanceof ItemTooLarge || cause instanceof StorageFull) throw cause;
          throw new StateUnavailable(`State table call failed: ${name}`, { cause });
        }),
    ];
  });
  return Object.fromEntries(guarded) as State;
}

type Item = Readonly<Record<string, unknown>>;

/** Parses a lease without further attributes. */
function readLease({ owner, expiresAt }: Item): Lease | undefined {
  return typeof owner === 'string' && typeof expiresAt === 'number' ? { owner, expiresAt } : undefined;
}

/** Parses the maintenance lease. */
function readMaintenance({ activity, owner, expiresAt }: Item): MaintenanceLease | undefined {
  if (typeof activity !== 'string' || typeof owner !== 'string' || typeof expiresAt !== 'number') return undefined;
  return { activity, owner, expiresAt };
}

/** Parses the lease for starting the stream host. */
function readStreamTask({ owner, startedAt, expiresAt, taskArn }: Item): StreamTaskLease | undefined {
  if (typeof owner !== 'string' || typeof startedAt !== 'number' || typeof expiresAt !== 'number') return undefined;
  return { owner, startedAt, expiresAt, taskArn: typeof taskArn === 'string' ? taskArn : undefined };
}
