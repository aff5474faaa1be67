import type { Lease } from './lease-item.ts';
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
  /** Who starts the stream host, or has just started it. */
  getStreamTask(): Promise<StreamTaskLease | undefined>;
  /** Takes or renews the lease. False when another owner holds it. `from`: an owner whose host was found dead. */
  takeStreamTask(lease: StreamTaskLease, from?: string): Promise<boolean>;
  /** Gives the lease back if this owner still holds it. */
  endStreamTask(owner: string): Promise<void>;
  /** Takes or renews the right to update the tools, which is no maintenance yet. False when another owner holds it. */
  takeToolsUpdate(lease: Lease): Promise<boolean>;
  /** Gives it back if this owner still holds it. */
  endToolsUpdate(owner: string): Promise<void>;
  /** The secret that this instance's origins ask for: the first candidate ever, from then on always the same. */
  keepOriginSecret(candidate: string): Promise<string>;
}

export interface ToolsRecord {
  readonly ytDlp: string;
  readonly ffmpeg: string;
  /** Who vouches for them: `signature`, `registry`, `system`, `path`. */
  readonly verifiedBy: Readonly<{ ytDlp: string; ffmpeg: string }>;
  /** Epoch seconds. */
  readonly installedAt: number;
}

export interface MaintenanceLease extends Lease {
  /** What GetResource answers as a title and App as `maintenance`, e.g. `Downloading yt-dlp`. */
  readonly activity: string;
}

/** Held while the stream host of an instance that scales to zero starts. */
export interface StreamTaskLease extends Lease {
  /** Epoch seconds at which the owner set out to start it. */
  readonly startedAt: number;
  /** Absent until AWS has taken the order. */
  readonly taskArn?: string;
}
