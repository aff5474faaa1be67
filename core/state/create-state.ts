import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants } from 'node:zlib';
import { ownTurn } from '@reelay/concurrency';
import { StateUnavailable, StorageFull } from '../errors/index.ts';
import { type Log, silentLog } from '../log/index.ts';
import { type GuardRecord, periodStart } from '../spending/index.ts';
import { parseKey } from './keys.ts';
import { createLeaseItem, getOriginSecrets, rotateOriginSecret } from './leases.ts';
import type { ArchivedList, Link, Resource } from './resource.ts';
import {
  type ArchiveProgress,
  type Lease,
  type MaintenanceLease,
  PROGRESS_TTL_SECONDS,
  type State,
  type ToolsRecord,
} from './state.ts';
import type { StateStorage, StoredItem } from './storage.ts';

/** Options of `createState`. */
interface StateOptions {
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
/** A day longer than a resource after the same touch, so that a cover never expires before the keys of its resource. */
const ATTACHMENT_TTL_SECONDS = 48 * 3600;
/** Reading an attachment extends its lifetime at most this often. */
const ATTACHMENT_TOUCH_INTERVAL_SECONDS = 12 * 3600;

/** How long the spending of a day is kept. */
const SPENDING_TTL_SECONDS = 2 * 24 * 3600;

/** Among the resources: stream hosts may read those, but no links. */
const ARCHIVED_LIST_PREFIX = 'resource#archive#';
const PROGRESS_PREFIX = 'resource#progress#';

/** Creates the state over a table. Reads are consistent; every call throws `StateUnavailable` if the table fails. */
export function createState({ storage, now = Date.now, log = silentLog }: StateOptions): State {
  const seconds = () => Math.floor(now() / 1000);
  const leases = { storage, now: seconds };
  const maintenance = createLeaseItem<MaintenanceLease>({
    ...leases,
    pk: 'maintenance',
    attributes: { activity: 'string' },
  });
  const toolsUpdate = createLeaseItem<Lease>({ ...leases, pk: 'tools-update' });

  /** A table that was lost does not take the tools with it. */
  let recordedTools: ToolsRecord | undefined;

  const read = async <T extends StoredRecord>(pk: string, id: string) =>
    unpackItem<T>(await storage.get(pk), id, seconds());
  const write = async (pk: string, record: StoredRecord) => storage.put(await packItem(pk, record));

  const packResource = (resource: Resource): Promise<StoredItem> => {
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

  /** Attachments are items beside those of their resources, within the same permissions. */
  const attachmentKey = (resourceId: string, name: string) => `resource#${resourceId}#${name}`;
  const extendAttachment = (pk: string, upTo: number) =>
    storage.extend(pk, { after: seconds(), upTo, expiresAt: seconds() + ATTACHMENT_TTL_SECONDS });

  const getAttachment: State['getAttachment'] = async (resourceId, name) => {
    const pk = attachmentKey(resourceId, name);
    const { data, expiresAt = 0 } = (await storage.get(pk)) ?? {};
    if (!(data instanceof Uint8Array) || expiresAt <= seconds()) return undefined;
    const staleUntil = seconds() + ATTACHMENT_TTL_SECONDS - ATTACHMENT_TOUCH_INTERVAL_SECONDS;
    // Without disk space for the change it can still be read.
    if (expiresAt <= staleUntil) await extendAttachment(pk, staleUntil).catch(() => undefined);
    return Buffer.from(data);
  };

  const state: State = {
    getResource: async (id) => {
      const item = await storage.get(`resource#${id}`);
      const resource = await unpackItem<Resource>(item, id, seconds());
      return resource && withExactSizes(resource, item);
    },
    putResource: async (resource) => storage.put(await packResource(resource)),
    touchResource: async ({ id, expiresAt }) => {
      if (await touch(`resource#${id}`, expiresAt))
        await extendAttachment(attachmentKey(id, 'cover'), seconds() + ATTACHMENT_TTL_SECONDS - 1);
    },
    putExactSize: ({ id }, renditionId, bytes) =>
      storage.annotate(`resource#${id}`, {
        name: EXACT_SIZE_PREFIX + renditionId,
        value: bytes,
        after: seconds(),
      }),
    getAttachment,
    putAttachment: async (resourceId, name, bytes) => {
      const pk = attachmentKey(resourceId, name);
      const item = { pk, expiresAt: seconds() + ATTACHMENT_TTL_SECONDS, data: new Uint8Array(bytes) };
      if (await storage.putIf(item, { expiredAt: seconds() })) return bytes;
      return (await getAttachment(resourceId, name)) ?? bytes;
    },
    // Expired: a host may change the expiry of items of resources, and may not delete them.
    dropAttachment: (resourceId, name) =>
      storage.extend(attachmentKey(resourceId, name), {
        after: seconds(),
        upTo: Number.MAX_SAFE_INTEGER,
        expiresAt: seconds(),
      }),
    getLink: (id) => read<Link>(`link#${id}`, id),
    putLink: (link) => write(`link#${link.id}`, link),
    getArchivedList: async (key) => (parseKey(key) ? read<ArchivedList>(ARCHIVED_LIST_PREFIX + key, key) : undefined),
    putArchivedList: (list) => write(ARCHIVED_LIST_PREFIX + list.id, list),
    touchArchivedList: async ({ id, expiresAt }) => {
      await touch(ARCHIVED_LIST_PREFIX + id, expiresAt);
    },
    getArchiveProgress: async (jobId) => (await read<ProgressRecord>(PROGRESS_PREFIX + jobId, jobId))?.progress,
    putArchiveProgress: (jobId, progress) => {
      const record: ProgressRecord = { id: jobId, progress, expiresAt: seconds() + PROGRESS_TTL_SECONDS };
      return write(PROGRESS_PREFIX + jobId, record);
    },
    addStreamBytes: (bytes) => {
      const day = periodStart('day', seconds());
      return storage.add(`spending#${day}`, bytes, day + SPENDING_TTL_SECONDS);
    },
    countStreamBytes: async () => Number((await storage.get(`spending#${periodStart('day', seconds())}`))?.n ?? 0),
    getCostGuard: async () => {
      const item = await storage.get('cost-guard');
      return { ...(item?.record as GuardRecord | undefined), revision: item?.owner };
    },
    putCostGuard: async ({ revision, ...record }) => {
      const item = { pk: 'cost-guard', owner: randomUUID(), record };
      // The first one replaces nothing that two runs could have read.
      if (revision === undefined) await storage.put(item);
      else if (!(await storage.putIf(item, { owners: [revision] }))) return undefined;
      return item.owner;
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
    takeToolsUpdate: (lease) => toolsUpdate.acquire(lease),
    endToolsUpdate: toolsUpdate.release,
    getOriginSecrets: () => getOriginSecrets(storage),
    rotateOriginSecret: (rotation, candidate) => rotateOriginSecret(storage, rotation, candidate),
  };
  return rejectWithStateUnavailable(state);
}

interface StoredRecord {
  readonly id: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

interface ProgressRecord extends StoredRecord {
  readonly progress: ArchiveProgress;
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

/** Makes every call reject with StateUnavailable, with the storage's error as its cause. */
function rejectWithStateUnavailable(state: State): State {
  const guarded = Object.entries(state).map(([name, call]: [string, (...args: never[]) => Promise<unknown>]) => {
    return [
      name,
      (...args: never[]) =>
        call(...args).catch((cause: unknown) => {
          if (cause instanceof ItemTooLarge || cause instanceof StorageFull) throw cause;
          throw new StateUnavailable(`State table call failed: ${name}`, { cause });
        }),
    ];
  });
  return Object.fromEntries(guarded) as State;
}

/** Version of the item format. An item of another version is read as absent, and so resolved again. */
const SCHEMA_VERSION = 1;

/** Maximum compressed size of a record. DynamoDB limits an item to 400 KB, attribute names included. */
const MAX_ITEM_BYTES = 350 * 1024;

/** Maximum size of a record before it is compressed: to parse it takes as long. */
const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;
/** Parsing more takes more than a millisecond. */
const MAX_QUICK_BYTES = 256 * 1024;

/** A record exceeds the maximum size of an item. */
export class ItemTooLarge extends Error {
  override readonly name = 'ItemTooLarge';
}

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** Quality 5 needs a third of the maximum's time for nearly its ratio, on JSON with similar URLs. */
const COMPRESSION = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Compresses a record. `v`: version of the format; `expiresAt`: the table's TTL attribute. */
async function packItem(pk: string, record: StoredRecord): Promise<StoredItem> {
  const json = Buffer.from(JSON.stringify(record));
  if (json.length > MAX_UNPACKED_BYTES) throw new ItemTooLarge(`${pk}: ${json.length} bytes`);
  const data = await compress(json, COMPRESSION);
  if (data.byteLength > MAX_ITEM_BYTES) throw new ItemTooLarge(`${pk}: ${data.byteLength} bytes compressed`);
  return { pk, v: SCHEMA_VERSION, expiresAt: record.expiresAt, data };
}

/**
 * Decompresses the record of an item, with `expiresAt` from the item, which touches change. Undefined if the item has
 * expired, is of another version, or is corrupt.
 * @param now epoch seconds
 */
async function unpackItem<T extends StoredRecord>(
  item: Readonly<Record<string, unknown>> | undefined,
  id: string,
  now: number,
): Promise<T | undefined> {
  if (item?.v !== SCHEMA_VERSION || !(item.data instanceof Uint8Array)) return undefined;
  const { expiresAt } = item;
  if (typeof expiresAt !== 'number' || expiresAt <= now) return undefined;
  try {
    const json = await decompress(item.data, { maxOutputLength: MAX_UNPACKED_BYTES });
    // Lists read many records at once.
    if (json.length > MAX_QUICK_BYTES) await ownTurn();
    const record = Object(JSON.parse(json.toString('utf8'))) as T;
    return record.id === id ? { ...record, expiresAt } : undefined;
  } catch {
    return undefined; // Resolving again replaces a corrupt item.
  }
}
