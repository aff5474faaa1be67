import type { Link, Resource } from './resource.ts';

/** Everything this service remembers. Each call throws `StateUnavailable` when the table does not answer within its bound. */
export interface State {
  /** Live ones only: what has expired is absent even while the table still has it. */
  getResource(id: string): Promise<Resource | undefined>;
  /** Without its fragments when it is too large with them. @throws ItemTooLarge when it is even so */
  putResource(resource: Resource): Promise<void>;
  /** Keeps the resource, and so its keys, for another day. Writes at most once an hour per resource. */
  touchResource(resource: Resource): Promise<void>;
  getLink(id: string): Promise<Link | undefined>;
  putLink(link: Link): Promise<void>;
  /** Counts one answered resolve. */
  addRequest(): Promise<void>;
  countRequests(): Promise<number>;
  /** The tools in place, as whoever installed them recorded; absent before the first install. */
  getTools(): Promise<ToolsRecord | undefined>;
  putTools(record: ToolsRecord): Promise<void>;
  /** The lease in force; an expired one is no maintenance, so a crashed updater cannot lock the instance. */
  getMaintenance(): Promise<MaintenanceLease | undefined>;
  /** Takes or renews the lease. False when another owner holds it. */
  takeMaintenance(lease: MaintenanceLease): Promise<boolean>;
  /** Ends the lease if this owner still holds it. */
  endMaintenance(owner: string): Promise<void>;
}

export interface ToolsRecord {
  readonly ytDlp: string;
  readonly ffmpeg: string;
  /** Who vouches for them: `signature`, `registry`, `system`, `path`. */
  readonly verifiedBy: Readonly<{ ytDlp: string; ffmpeg: string }>;
  /** Epoch seconds. */
  readonly installedAt: number;
}

export interface MaintenanceLease {
  /** What GetResource answers as a title and App as `maintenance`, e.g. `Downloading yt-dlp`. */
  readonly activity: string;
  readonly owner: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}
