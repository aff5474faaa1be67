import type { Schema } from '../api/index.ts';
import type { GuardRecord } from '../spending/index.ts';
import type { ArchivedList, Link, Resource } from './resource.ts';

/**
 * The persistent state of an instance. Every call throws `StateUnavailable` if the table fails or does not respond in time.
 */
export interface State {
  /** Undefined once expired, even if the table has not deleted the item yet. */
  getResource(id: string): Promise<Resource | undefined>;
  /**
   * Omits DASH fragments above the maximum size of an item.
   * @throws ItemTooLarge if it is too large without them, StorageFull
   */
  putResource(resource: Resource): Promise<void>;
  /** Extends the lifetime of a resource and its keys by a day. Writes at most once an hour per resource. @throws StorageFull */
  touchResource(resource: Resource): Promise<void>;
  /**
   * Stores the exact size of a rendition whose stream has computed it, with its resource: later reads of the resource have
   * it in `exactSizes`.
   */
  putExactSize(resource: Pick<Resource, 'id'>, renditionId: string, bytes: number): Promise<void>;
  /** Bytes that were stored with a resource; undefined: none yet. They live for as long as it, and two days after a read. */
  getAttachment(resourceId: string, name: AttachmentName): Promise<Buffer | undefined>;
  /**
   * Stores bytes with a resource unless some of the name are stored: every host then sends the same.
   * @param bytes at most `MAX_ATTACHMENT_BYTES`
   * @returns the stored ones
   */
  putAttachment(resourceId: string, name: AttachmentName, bytes: Buffer): Promise<Buffer>;
  /** Removes stored bytes that turned out to be wrong: the next ones take their place. */
  dropAttachment(resourceId: string, name: AttachmentName): Promise<void>;
  getLink(id: string): Promise<Link | undefined>;
  /** @throws ItemTooLarge, StorageFull */
  putLink(link: Link): Promise<void>;
  /** A list by the key of its archive. An invalid key causes no read. */
  getArchivedList(key: string): Promise<ArchivedList | undefined>;
  /** @throws ItemTooLarge, StorageFull */
  putArchivedList(list: ArchivedList): Promise<void>;
  /** As `touchResource`. */
  touchArchivedList(list: ArchivedList): Promise<void>;
  /** The progress of an archive by the id that its client chose; undefined two minutes after it was written. */
  getArchiveProgress(jobId: string): Promise<ArchiveProgress | undefined>;
  /** @throws StorageFull */
  putArchiveProgress(jobId: string, progress: ArchiveProgress): Promise<void>;
  /** Adds to the bytes that all stream hosts have sent today (UTC). @returns their sum */
  addStreamBytes(bytes: number): Promise<number>;
  /** The same sum. */
  countStreamBytes(): Promise<number>;
  /** What the cost guard has decided; empty where there is none. */
  getCostGuard(): Promise<GuardRecord>;
  /** Replaces what has the revision of the record. @returns the new revision; undefined: it was replaced meanwhile */
  putCostGuard(record: GuardRecord): Promise<string | undefined>;
  /** @throws StorageFull while there is no disk space to store what a resolve finds */
  requireSpace(): Promise<void>;
  /** Counts one served resolve. */
  addRequest(): Promise<void>;
  countRequests(): Promise<number>;
  /** The installed tools: as the table has them, else as this process has recorded them. Undefined before the first installation. */
  getTools(): Promise<ToolsRecord | undefined>;
  putTools(record: ToolsRecord): Promise<void>;
  /** The current lease; undefined once expired, so that a crashed updater cannot lock the instance. */
  getMaintenance(): Promise<MaintenanceLease | undefined>;
  /** Acquires or renews the lease. False if another owner holds it. */
  takeMaintenance(lease: MaintenanceLease): Promise<boolean>;
  /** Releases the lease if this owner still holds it. */
  endMaintenance(owner: string): Promise<void>;
  /** Acquires or renews the lease for updating tools, which is not maintenance yet. False if another owner holds it. */
  takeToolsUpdate(lease: Lease): Promise<boolean>;
  /** Releases the lease if this owner still holds it. */
  endToolsUpdate(owner: string): Promise<void>;
  /**
   * The origin secrets of a rotation. Stores the candidate as the current secret when the rotation is new; repeated calls
   * return the stored one. Returning to the previous rotation makes its secret current again.
   */
  rotateOriginSecret(rotation: string, candidate: string): Promise<OriginSecrets>;
  /** The current secret and the previous one. Without a rotation before it the call fails. */
  getOriginSecrets(): Promise<readonly string[]>;
}

/**
 * The cover of tags (JPEG; empty: none), subtitles by the id of their file (compressed cues), segments that can be skipped by the
 * hour in which they were read, since the epoch (JSON), and the places of segments by their track (a compressed table; empty: they
 * make no file).
 */
type AttachmentName = 'cover' | `subtitle-${string}` | `segments-${number}` | `places-${string}`;

/** What an item of the table can hold, with its other attributes. */
export const MAX_ATTACHMENT_BYTES = 350 * 1024;

/** The secrets by which origins recognize requests of the edge. */
export interface OriginSecrets {
  /** The one that the edge sends. */
  readonly current: string;
  /** The one before it, which an edge location may still send while a rotation is deployed. */
  readonly previous?: string;
}

/** The installed versions of the tools. */
export interface ToolsRecord {
  readonly ytDlp: string;
  readonly ffmpeg: string;
  /** How each was verified: `signature`, `registry`, `system`, `path`. */
  readonly verifiedBy: Readonly<{ ytDlp: string; ffmpeg: string }>;
  /** Epoch seconds. */
  readonly installedAt: number;
  /** What the extractors of this yt-dlp read; absent where it is not known. */
  readonly sites?: { readonly count: number; readonly names: readonly string[] } | undefined;
}

/** An exclusive right with an expiry, so that a crashed owner does not block others. */
export interface Lease {
  readonly owner: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** Held while tools are installed or updated. */
export interface MaintenanceLease extends Lease {
  /** The title of GetResource's 503 and the `maintenance` field of App, such as `Downloading yt-dlp`. */
  readonly activity: string;
}

/** How far the making of an archive is, for the clients that follow it. */
export type ArchiveProgress = Readonly<Schema<'ArchiveProgress'>>;

/** The progress of a job that has not reported any yet. */
export const NO_PROGRESS: ArchiveProgress = { state: 'building', total: 0, completed: 0, current: null, skipped: 0 };

/**
 * Seconds that the table keeps the progress after it was written. One that is still building is written again before: where
 * its process has died, it disappears.
 */
export const PROGRESS_TTL_SECONDS = 120;
