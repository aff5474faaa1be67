import type { FetchedRelease } from '../../layers/tools/index.ts';

/** One version of the tools layer. */
export interface LayerVersion {
  readonly arn: string;
  /** Rises with every one that is published. */
  readonly number: number;
  /** What it was published with (`plan.ts`). */
  readonly description: string;
}

/** The versions of the tools layer. */
export interface Layers {
  /** Newest first. */
  versions(): Promise<LayerVersion[]>;
  /** @throws Error when what was published is not the archive of this checksum */
  publish(archive: {
    readonly key: string;
    readonly sha256: string;
    readonly description: string;
  }): Promise<LayerVersion>;
  /** Bears one that is not there. */
  remove(number: number): Promise<void>;
}

/** A function whose layers are changed. */
export interface FunctionLayers {
  /** Once no change of it is under way any more. */
  read(): Promise<{
    readonly layers: readonly string[] /** Whether its last change took effect. */;
    readonly inForce: boolean;
  }>;
  /**
   * Changes its layers from what they are at that moment, and waits until the change is in force.
   * @param signal ends the waiting, not the change
   * @throws Error when it does not come into force
   */
  change(to: (layers: readonly string[]) => readonly string[], signal?: AbortSignal): Promise<void>;
}

/** Where verified archives are kept, and the pointer that stream tasks follow. */
export interface Archive {
  pointer(): Promise<Pointer | undefined>;
  movePointer(pointer: Pointer): Promise<void>;
  /** The layer versions of the last deployments, by their ARNs. */
  deployed(): Promise<string[]>;
  recordDeployed(layerVersionArn: string): Promise<void>;
  /** Bytes of an archive that is there and has this checksum. */
  sizeOf(key: string, sha256: string): Promise<number | undefined>;
  put(key: string, path: string, fetched: FetchedRelease): Promise<void>;
  /** Of every archive. */
  keys(): Promise<string[]>;
  remove(keys: readonly string[]): Promise<void>;
}

/** The release in use, as `current.json` says it. */
export interface Pointer {
  readonly version: string;
  /** Of the archive, in the same bucket. */
  readonly key: string;
  /** Hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly layerVersionArn: string;
  /** Epoch seconds. */
  readonly publishedAt: number;
}

/** What a canary says of the layer it carries. */
export type CanaryVerdict =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly reason: string };

/** A function of its own that tries a layer before the resolver gets it. */
export interface Canary {
  /** @throws Error when it did not come to a verdict */
  try(layerVersionArn: string, signal: AbortSignal): Promise<CanaryVerdict>;
}

/** What an update has just done: for the log, and for whoever tests that it may die there. */
export type Step =
  | 'leased'
  | 'looked'
  | 'fetched'
  | 'archived'
  | 'published'
  | 'tried'
  | 'maintained'
  | 'attached'
  | 'pointed'
  | 'recorded'
  | 'cleared'
  | 'pruned';
