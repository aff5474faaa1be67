import { randomUUID } from 'node:crypto';
import { findInUse, getAgeInHours, keepPrevious, listPublished, planPruning, selectRelease } from './plan.ts';
import { prepareRelease } from './prepare-release.ts';
import { switchRelease } from './switch-release.ts';
import type { LayerVersion, Pointer, UpdateToolsDependencies } from './types.ts';
import { LEASE_SECONDS, LeaseTaken, withLease } from './with-lease.ts';

/** The outcome of a run. */
export type UpdateOutcome =
  | { readonly outcome: 'updated' | 'current'; readonly version: string }
  /** Another run is in progress: this one has done nothing. */
  | { readonly outcome: 'busy' };

/** What a run finds at its start. */
interface Found {
  readonly versions: LayerVersion[];
  readonly inUse: Pointer | undefined;
  /** The release to switch to; undefined to keep the one in use. */
  readonly candidate: string | undefined;
  /** Why the newest release is unknown. */
  readonly failure: Error | undefined;
}

/**
 * Switches the resolver and the pointer to the newest working release, or to the pinned one. A run that is killed at any
 * step leaves the instance available, at the latest when its lease expires, and the next run continues from there.
 * @throws Error when the update failed: the release in use stays
 */
export async function updateTools(parts: UpdateToolsDependencies, signal: AbortSignal): Promise<UpdateOutcome> {
  const { metrics, log } = parts;
  try {
    return await withUpdateLease(parts, { signal }, (held) => bringInPlace(parts, held));
  } catch (error) {
    if (error instanceof LeaseTaken) {
      log.info('Update already in progress');
      return { outcome: 'busy' };
    }
    metrics.updateFailed();
    throw error;
  }
}

/**
 * Updates the tools only while no release is in use, as after a deployment whose first fetch failed: until then the
 * instance is in maintenance. Cheap otherwise, so that it can run every few minutes.
 * @throws Error when no release can be installed
 */
export async function installMissingTools(parts: UpdateToolsDependencies, signal: AbortSignal): Promise<UpdateOutcome> {
  const { inUse } = await readReleases(parts);
  if (inUse) return { outcome: 'current', version: inUse.version };
  parts.metrics.missing();
  return updateTools(parts, signal);
}

/** The versions of the layer, and the release in use. @throws Error when layers or archive cannot be read */
export async function readReleases({ layers, archive, asset }: UpdateToolsDependencies) {
  const [versions, pointer] = await Promise.all([layers.versions(), archive.pointer()]);
  return { versions, inUse: findInUse(pointer, versions, asset) };
}

/**
 * Runs work in one run at a time.
 * @param options.maxWaitMs how long to wait for another run to end. @default 0
 */
export function withUpdateLease<T>(
  { state, leaseSeconds = LEASE_SECONDS, onStep, log }: UpdateToolsDependencies,
  options: { readonly signal: AbortSignal; readonly maxWaitMs?: number },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const owner = randomUUID();
  const lease = {
    take: (expiresAt: number) => state.takeToolsUpdate({ owner, expiresAt }),
    end: () => state.endToolsUpdate(owner),
    ttlSeconds: leaseSeconds,
  };
  return withLease({ ...lease, ...options, log }, (held) => {
    onStep('leased');
    return work(held);
  });
}

/**
 * Finds the release in use and the one to switch to.
 * @throws Error when layers or archive cannot be read
 */
export async function findRelease(parts: UpdateToolsDependencies, signal: AbortSignal): Promise<Found> {
  const { releases, asset, pinned, onStep } = parts;
  const { versions, inUse } = await readReleases(parts);
  // Neither the newest release nor published ones matter.
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
    failure = new Error('Failed to find the newest release', { cause: error });
  }
  onStep('looked');
  const candidate = selectRelease(newest, listPublished(versions, asset), inUse);
  return { versions, inUse, candidate, failure };
}

async function bringInPlace(parts: UpdateToolsDependencies, signal: AbortSignal): Promise<UpdateOutcome> {
  const { metrics, log, onStep } = parts;
  const { versions, inUse, candidate, failure: unasked } = await findRelease(parts, signal);
  let failure: unknown = unasked;
  let next = inUse;
  if (candidate) {
    try {
      next = keepPrevious(inUse, await prepareRelease(candidate, parts, { versions, signal }));
    } catch (error) {
      signal.throwIfAborted();
      // Continues with the release in use: a deployment may have attached an older one.
      failure = error;
    }
  }
  if (!next) throw failure ?? new Error('No release of yt-dlp is available');
  const isOther = await putInPlace(next, parts, { isNew: next !== inUse, signal });
  metrics.age(getAgeInHours(next.version, Date.now()));
  if (isOther) {
    metrics.updated();
    log.info('yt-dlp updated', { version: next.version });
  }
  // Nothing is pruned then, because the next run tries the candidate again.
  if (failure !== undefined) throw failure;
  await prune(parts, next);
  onStep('pruned');
  return { outcome: isOther ? 'updated' : 'current', version: next.version };
}

/** Puts the release into the resolver, the pointer and the table. @returns whether any of them had another one */
async function putInPlace(
  next: Pointer,
  parts: UpdateToolsDependencies,
  { isNew, signal }: { readonly isNew: boolean; readonly signal: AbortSignal },
): Promise<boolean> {
  const { layers } = await parts.resolver.read();
  const isLive = layers.includes(next.layerVersionArn);
  // A killed run has switched the resolver already: only the pointer is missing, which needs no maintenance.
  if (isLive && isNew) await parts.archive.movePointer(next);
  if (!isLive) await switchRelease(next, parts, signal);
  const isRecorded = await recordTools(next, parts);
  return isNew || !isLive || !isRecorded;
}

/** Records the release in the table. @returns whether it was recorded already */
export async function recordTools(
  { version, publishedAt }: Pointer,
  { state, onStep }: UpdateToolsDependencies,
): Promise<boolean> {
  if ((await state.getTools())?.ytDlp === version) return true;
  await state.putTools({
    ytDlp: version,
    // Part of the image of the stream task, whose build verifies the hash that is pinned in the sources.
    ffmpeg: 'of the image',
    verifiedBy: { ytDlp: 'signature', ffmpeg: 'registry' },
    installedAt: publishedAt,
  });
  onStep('recorded');
  return false;
}

async function prune({ layers, archive, asset, log }: UpdateToolsDependencies, inUse: Pointer): Promise<void> {
  try {
    const [versions, keys, deployed] = [await layers.versions(), await archive.keys(), await archive.deployed()];
    const old = planPruning({ versions, keys, inUse, asset, deployed });
    for (const number of old.layers) await layers.remove(number);
    if (old.keys.length > 0) await archive.remove(old.keys);
  } catch (error) {
    // The next run removes them.
    log.warn('Failed to remove old releases', { error });
  }
}
