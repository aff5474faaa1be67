import type { Pointer } from './aws/index.ts';
import type { ToolsUpdate } from './create-tools-update.ts';
import { findInUse, keepPrevious, listPublished, planPruning, selectRelease } from './plan.ts';
import { prepareRelease } from './prepare-release.ts';
import { recordTools, switchRelease } from './switch-release.ts';
import { LeaseTaken, withUpdateLease } from './update-lease.ts';

/** The outcome of a run. */
export type UpdateOutcome =
  | { readonly outcome: 'updated' | 'current'; readonly version: string }
  /** Another run is in progress: this one has done nothing. */
  | { readonly outcome: 'busy' };

/** Time to fetch and try a release. With the wait for another run, it stays within the timeout of a deployment. */
const PREPARE_TIMEOUT_MS = 6 * 60_000;

/**
 * Switches the resolver and the pointer to the newest working release, or to the pinned one. A run that is killed at any
 * step leaves the instance available, and once its lease has expired the next run continues from there.
 * @throws Error when the update failed: the release in use stays
 */
export async function updateTools(parts: ToolsUpdate, signal: AbortSignal): Promise<UpdateOutcome> {
  const { metrics, log } = parts;
  try {
    return await withUpdateLease(parts, { signal }, async () => {
      const { release, isOther, failure } = await putNewestInPlace(parts, signal);
      // Nothing is pruned then, because the next run tries the candidate again.
      if (failure !== undefined || !release) throw failure ?? new Error('No release of yt-dlp is available');
      await prune(parts, release);
      return { outcome: isOther ? 'updated' : 'current', version: release.version };
    });
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
export async function installMissingTools(parts: ToolsUpdate, signal: AbortSignal): Promise<UpdateOutcome> {
  const { inUse } = await readReleases(parts);
  if (inUse) return { outcome: 'current', version: inUse.version };
  parts.metrics.missing();
  return updateTools(parts, signal);
}

/** The versions of the layer, and the release in use. @throws Error when layers or archive cannot be read */
export async function readReleases({ layers, archive, asset }: ToolsUpdate) {
  const [versions, pointer] = await Promise.all([layers.versions(), archive.pointer()]);
  return { versions, inUse: findInUse(pointer, versions, asset) };
}

/** What `putNewestInPlace` has done. */
interface Placed {
  /** The release in use; undefined: there is none. */
  readonly release: Pointer | undefined;
  readonly isOther: boolean;
  /** Why a newer release is unknown, or was not put in place. */
  readonly failure: unknown;
}

/**
 * Puts the newest release that works in place, the pinned one, or one that an unfinished update has published; else the one in use,
 * which a deployment or a failed update may have detached.
 * @param isDeployment the resolver may have changed: it is published with the release that is in place too
 * @throws Error when layers or archive cannot be read, or the resolver cannot be switched
 */
export async function putNewestInPlace(parts: ToolsUpdate, signal: AbortSignal, isDeployment = false): Promise<Placed> {
  const { releases, resolver, asset, pinned, log, onStep } = parts;
  let failure: unknown;
  const attempt = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => {
      signal.throwIfAborted();
      failure = error;
      return undefined;
    });
  const { versions, inUse } = await readReleases(parts);
  const newest = pinned ?? (await attempt(findNewest(releases, signal)));
  onStep('looked');
  const known = [...(newest ? [newest] : []), ...listPublished(versions, asset).map(({ version }) => version)];
  const candidate = pinned ?? selectRelease(known, inUse);
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(PREPARE_TIMEOUT_MS)]);
  const prepared =
    candidate && candidate !== inUse?.version
      ? await attempt(prepareRelease(candidate, parts, { versions, signal: bounded }))
      : undefined;
  const place = async (release: Pointer): Promise<Placed> => {
    const isOther = release !== inUse || !(await resolver.read()).layers.includes(release.layerVersionArn);
    await (isOther || isDeployment ? switchRelease(release, parts, signal) : recordTools(release, parts));
    if (isOther) log.info('yt-dlp updated', { version: release.version });
    return { release, isOther, failure };
  };
  if (!prepared) return inUse ? place(inUse) : { release: undefined, isOther: false, failure };
  const placed = place(keepPrevious(inUse, prepared));
  // One that fails in the resolver alone, as at a canary link, would fail the deployment and then its rollback.
  return isDeployment && inUse ? ((await attempt(placed)) ?? place(inUse)) : placed;
}

const findNewest = (releases: ToolsUpdate['releases'], signal: AbortSignal) =>
  releases.findNewest(signal).catch((cause: unknown) => {
    throw new Error('Failed to find the newest release', { cause });
  });

async function prune({ layers, archive, log, onStep }: ToolsUpdate, inUse: Pointer): Promise<void> {
  try {
    const old = planPruning(await layers.versions(), await archive.keys(), inUse);
    await layers.remove(old.layers);
    await archive.remove(old.keys);
  } catch (error) {
    // The next run removes them.
    log.warn('Failed to remove old releases', { error });
  }
  onStep('pruned');
}
