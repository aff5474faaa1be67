import type { FetchedRelease, Releases } from '@reelay/yt-dlp-worker';
import type { Log } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';
import type { ToolMetrics } from '../runtime/index.ts';

/** One version of the tools layer. */
export interface LayerVersion {
  readonly arn: string;
  /** Increases with each published version. */
  readonly number: number;
  /** Set by `describeLayer` (`plan.ts`). */
  readonly description: string;
}

/** The versions of the tools layer. */
export interface Layers {
  /** Newest first. */
  versions(): Promise<LayerVersion[]>;
  /** @throws Error when the published archive has another checksum */
  publish(archive: {
    readonly key: string;
    readonly sha256: string;
    readonly description: string;
  }): Promise<LayerVersion>;
  /** Does nothing when the version does not exist. */
  remove(number: number): Promise<void>;
}

/** The layers of one function. */
export interface FunctionLayers {
  /** Waits for a change in progress. */
  read(): Promise<{
    readonly layers: readonly string[];
    /** Whether its last change took effect. */
    readonly inForce: boolean;
  }>;
  /**
   * Changes the layers, given the current ones, and waits until the change has taken effect.
   * @param signal ends the wait, not the change
   * @throws Error when it does not take effect
   */
  change(to: (layers: readonly string[]) => readonly string[], signal?: AbortSignal): Promise<void>;
}

/** A function whose clients invoke an alias. */
export interface LiveFunction {
  /** The version behind the alias and its layers; undefined and none while there is no alias. */
  read(): Promise<{ readonly version: string | undefined; readonly layers: readonly string[] }>;
  /**
   * Changes the layers of `$LATEST` and publishes it as a version.
   * @throws Error when the change does not take effect
   */
  publish(to: (layers: readonly string[]) => readonly string[], signal: AbortSignal): Promise<string>;
  /**
   * Invokes a version to learn whether it works.
   * @param links that it must resolve
   * @returns undefined while no execution of the function may start, as where the cost guard has closed it
   */
  check(version: string, signal: AbortSignal, links: readonly string[]): Promise<CanaryVerdict | undefined>;
  /** Moves the alias; creates it if necessary. Lambda moves its provisioned environments with it. */
  switchTo(version: string): Promise<void>;
  /**
   * Requests the environments that Lambda keeps initialized for the alias, as many as this deployment wants.
   * @throws Error when Lambda refuses them: the account's concurrency is too low
   */
  provision(): Promise<void>;
}

/** Verified archives, and the pointer that stream tasks follow. */
export interface Archive {
  pointer(): Promise<Pointer | undefined>;
  movePointer(pointer: Pointer): Promise<void>;
  /** The layer versions of the last deployments, by their ARNs. */
  deployed(): Promise<string[]>;
  recordDeployed(layerVersionArn: string): Promise<void>;
  /** Size in bytes of an archive with this checksum; undefined when there is none. */
  sizeOf(key: string, sha256: string): Promise<number | undefined>;
  put(key: string, path: string, fetched: FetchedRelease): Promise<void>;
  /** The keys of all archives. */
  keys(): Promise<string[]>;
  remove(keys: readonly string[]): Promise<void>;
}

/** The release in use: `current.json`. */
export interface Pointer {
  readonly version: string;
  /** Key of the archive, in the same bucket. */
  readonly key: string;
  /** Hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly layerVersionArn: string;
  /** When it was switched to, epoch seconds. */
  readonly publishedAt: number;
  /** The release before it, for a rollback. */
  readonly previous?: Omit<Pointer, 'previous' | 'refused'>;
  /** Versions that were rolled back because canary links failed with them, and are not installed again unless pinned. */
  readonly refused?: readonly string[];
}

/** The result of a canary invocation. */
export type CanaryVerdict =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly reason: string };

/** Tests a layer in a separate function before it is attached to the resolver. */
export interface Canary {
  /** @throws Error when there is no verdict */
  try(layerVersionArn: string, signal: AbortSignal): Promise<CanaryVerdict>;
}

/** The step that an update has completed, for the log and for tests that kill it there. */
export type Step =
  | 'leased'
  | 'looked'
  | 'fetched'
  | 'archived'
  | 'published'
  | 'tried'
  | 'checked'
  | 'maintained'
  | 'attached'
  | 'pointed'
  | 'recorded'
  | 'cleared'
  | 'pruned';

/** What an update works with. */
export interface UpdateToolsDependencies {
  readonly releases: Releases;
  /** The release to run instead of the newest, also when it is older than the one in use. */
  readonly pinned?: string;
  /** The release file for the architecture of the resolver. */
  readonly asset: string;
  /** Folder of the archive between download and upload. */
  readonly scratchDir: string;
  readonly layers: Layers;
  readonly archive: Archive;
  readonly canary: Canary;
  readonly resolver: LiveFunction;
  /** Links that the resolver must resolve with another release before it is switched to. @default none */
  readonly canaryLinks?: readonly string[];
  readonly state: Pick<
    State,
    'takeToolsUpdate' | 'endToolsUpdate' | 'takeMaintenance' | 'endMaintenance' | 'getTools' | 'putTools'
  >;
  /** Leases of a killed run expire after this time. @default 60 */
  readonly leaseSeconds?: number;
  readonly metrics: ToolMetrics;
  readonly onStep: (step: Step) => void;
  readonly log: Log;
}
