import { randomUUID } from 'node:crypto';
import type { Log } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';
import type { ToolMetrics } from '../runtime/index.ts';
import { attachRelease } from './attach-release.ts';
import { ageInHours, planPruning, publishedOf, releaseInUse, releaseToTry, replaceLayer } from './plan.ts';
import { type PrepareDependencies, prepareRelease } from './prepare-release.ts';
import type { FunctionLayers, LayerVersion, Pointer } from './types.ts';
import { LeaseTaken, withLease } from './with-lease.ts';

export interface UpdateDependencies extends PrepareDependencies {
  readonly state: Pick<
    State,
    'takeToolsUpdate' | 'endToolsUpdate' | 'takeMaintenance' | 'endMaintenance' | 'getTools' | 'putTools'
  >;
  readonly metrics: ToolMetrics;
  readonly log: Log;
  readonly placeholder?: string;
  /** The release to run, whichever is the newest: also an older one than is in use. */
  readonly pinned?: string;
  /** Seconds after which the leases of a run that died end. @default 60 */
  readonly leaseSeconds?: number;
}

export interface UpdateToolsDependencies extends UpdateDependencies {
  readonly resolver: FunctionLayers;
}

/** What a run came to. */
export type UpdateOutcome =
  | { readonly outcome: 'updated' | 'current'; readonly version: string }
  /** Another run is at work: this one has done nothing. */
  | { readonly outcome: 'busy' };

/** What is there at the start of a run. */
interface Found {
  readonly versions: LayerVersion[];
  readonly inUse: Pointer | undefined;
  /** To go to; absent when the one in use is to stay. */
  readonly candidate: string | undefined;
  /** Why nobody tells of the newest release. */
  readonly failure: Error | undefined;
}

const LEASE_SECONDS = 60;

/**
 * Brings the resolver and the pointer to the newest release that works, or to the one that is pinned. Every step leaves an
 * instance that is available, or is again when a lease runs out, and the next run goes on from what it finds.
 * @throws Error when that release cannot be brought in place: the one in use stays
 */
export async function updateTools(parts: UpdateToolsDependencies, signal: AbortSignal): Promise<UpdateOutcome> {
  const { metrics, log } = parts;
  try {
    return await withUpdateLease(parts, signal, 0, (held) => bringInPlace(parts, held));
  } catch (error) {
    if (error instanceof LeaseTaken) {
      log.info('Another run updates the tools');
      return { outcome: 'busy' };
    }
    metrics.updateFailed();
    throw error;
  }
}

/** Does work that one run at a time may do. @param maxWaitMs for another run to end */
export function withUpdateLease<T>(
  { state, leaseSeconds = LEASE_SECONDS, onStep, log }: UpdateDependencies,
  signal: AbortSignal,
  maxWaitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const owner = randomUUID();
  const lease = {
    take: (expiresAt: number) => state.takeToolsUpdate({ owner, expiresAt }),
    end: () => state.endToolsUpdate(owner),
    ttlSeconds: leaseSeconds,
  };
  return withLease({ ...lease, signal, maxWaitMs, log }, (held) => {
    onStep('leased');
    return work(held);
  });
}

/** What there is to be used, and to be tried. @throws Error when that cannot be told without asking for releases */
export async function findRelease(parts: UpdateDependencies, signal: AbortSignal): Promise<Found> {
  const { releases, layers, archive, asset, pinned, onStep } = parts;
  const [versions, pointer] = await Promise.all([layers.versions(), archive.pointer()]);
  const inUse = releaseInUse(pointer, versions, asset);
  // Nobody need be asked, and what else there is plays no part.
  if (pinned) {
    onStep('looked');
    return { versions, inUse, candidate: inUse?.version === pinned ? undefined : pinned, failure: undefined };
  }
  let newest: string | undefined;
  let failure: Error | undefined;
  try {
    newest = await releases.findNewest(signal);
  } catch (error) {
    signal.throwIfAborted();
    failure = new Error('Nobody tells of the newest release', { cause: error });
  }
  onStep('looked');
  const candidate = releaseToTry(newest, publishedOf(versions, asset), inUse);
  return { versions, inUse, candidate, failure };
}

async function bringInPlace(parts: UpdateToolsDependencies, signal: AbortSignal): Promise<UpdateOutcome> {
  const { metrics, log, onStep } = parts;
  const { versions, inUse, candidate, failure: unasked } = await findRelease(parts, signal);
  let failure: unknown = unasked;
  let next = inUse;
  if (candidate) {
    try {
      next = await prepareRelease(candidate, versions, parts, signal);
    } catch (error) {
      signal.throwIfAborted();
      // What is in use may still be missing somewhere: a deployment can have put back an older one.
      failure = error;
    }
  }
  if (!next) throw failure ?? new Error('No release of yt-dlp can be had');
  const isOther = await putInPlace(next, parts, next !== inUse, signal);
  metrics.age(ageInHours(next.version, Date.now()));
  if (isOther) {
    metrics.updated();
    log.info('yt-dlp is updated', { version: next.version });
  }
  // What came to no verdict stays to be tried again.
  if (failure !== undefined) throw failure;
  await prune(parts, next);
  onStep('pruned');
  return { outcome: isOther ? 'updated' : 'current', version: next.version };
}

/** Makes all three say the same: the resolver, the pointer and the table. Whether any of them did not. */
async function putInPlace(
  next: Pointer,
  parts: UpdateToolsDependencies,
  isNew: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const { resolver, archive, placeholder, onStep } = parts;
  const { layers, inForce } = await resolver.read();
  const isAttached = inForce && `${replaceLayer(layers, next.layerVersionArn, placeholder)}` === `${layers}`;
  // What a run that died has attached needs no maintenance any more, only the rest.
  if (isAttached && isNew) await archive.movePointer(next);
  if (!isAttached) {
    await inMaintenance(parts, next.version, signal, (held) => attachRelease(next, parts, held));
    onStep('cleared');
  }
  const isRecorded = await recordTools(next, parts);
  return isNew || !isAttached || !isRecorded;
}

function inMaintenance(
  { state, metrics, leaseSeconds = LEASE_SECONDS, onStep, log }: UpdateDependencies,
  version: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const [owner, activity, begun] = [randomUUID(), `Updating yt-dlp to ${version}`, Date.now()];
  const lease = {
    take: (expiresAt: number) => {
      // At each renewal: only a run that goes on and on can hold an instance in maintenance for long.
      metrics.maintained((Date.now() - begun) / 1000);
      return state.takeMaintenance({ activity, owner, expiresAt });
    },
    end: () => state.endMaintenance(owner),
    ttlSeconds: leaseSeconds,
    // Only a run that died can hold it still.
    maxWaitMs: 2 * leaseSeconds * 1000,
  };
  return withLease({ ...lease, signal, log }, (held) => {
    onStep('maintained');
    return work(held);
  });
}

/** Says in the table what is in place. Whether it said so already. */
export async function recordTools(
  { version, publishedAt }: Pointer,
  { state, onStep }: UpdateDependencies,
): Promise<boolean> {
  if ((await state.getTools())?.ytDlp === version) return true;
  await state.putTools({
    ytDlp: version,
    // Comes with the image of the stream task, whose package manager vouches for it.
    ffmpeg: 'of the image',
    verifiedBy: { ytDlp: 'signature', ffmpeg: 'system' },
    installedAt: publishedAt,
  });
  onStep('recorded');
  return false;
}

async function prune({ layers, archive, asset, log }: UpdateDependencies, inUse: Pointer): Promise<void> {
  try {
    const old = planPruning(await layers.versions(), await archive.keys(), inUse, asset, await archive.deployed());
    for (const number of old.layers) await layers.remove(number);
    if (old.keys.length > 0) await archive.remove(old.keys);
  } catch (error) {
    // The next run sweeps up: nothing that is in use waits for it.
    log.warn('Old releases could not be removed', { error: String(error) });
  }
}
