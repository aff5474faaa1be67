import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pointer } from './archive.ts';
import type { ToolsUpdate } from './create-tools-update.ts';
import { findInUse, keepPrevious, listPublished, planPruning, selectRelease } from './plan.ts';
import { prepareRelease } from './prepare-release.ts';
import { recordTools, switchRelease } from './switch-release.ts';

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
async function readReleases({ layers, archive, asset }: ToolsUpdate) {
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
async function putNewestInPlace(parts: ToolsUpdate, signal: AbortSignal, isDeployment = false): Promise<Placed> {
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

/** After this an alarm on failed resolves has other causes than the switch, most likely the sites. */
const MAX_SWITCH_AGE_SECONDS = 3_600;

export type RollBackOutcome = { readonly outcome: 'rolled back' | 'kept'; readonly version?: string };

/**
 * Returns to the previous release when canary links of the operator fail with the one in use, which was switched to within the
 * last hour; later updates exclude it. Without canary links it is kept: clients choose the links that have failed, and
 * these must not decide. A pinned release is kept too.
 * @throws Error when the previous release does not work either: the one in use stays
 */
export function rollBack(parts: ToolsUpdate, signal: AbortSignal): Promise<RollBackOutcome> {
  const { asset, pinned, resolver, canaryLinks, log } = parts;
  return withUpdateLease(parts, { signal, maxWaitMs: MAX_WAIT_MS }, async () => {
    const { versions, inUse } = await readReleases(parts);
    const now = Math.floor(Date.now() / 1000);
    const isRecent = inUse !== undefined && now - inUse.publishedAt < MAX_SWITCH_AGE_SECONDS;
    const previous = findInUse(inUse?.previous, versions, asset);
    if (!isRecent || !previous || pinned === inUse.version) return { outcome: 'kept', version: inUse?.version };
    const { version, refused = [] } = inUse;
    const { version: live } = await resolver.read();
    const tried = live && canaryLinks.length > 0 ? await resolver.check(live, signal, canaryLinks) : undefined;
    if (tried?.ok !== false) {
      log.warn('Resolves fail but canary links pass: keeping yt-dlp', { version });
      return { outcome: 'kept', version };
    }
    await switchRelease({ ...previous, publishedAt: now, refused: [...refused, version] }, parts, signal);
    log.warn('Rolled back yt-dlp', { from: version, to: previous.version });
    return { outcome: 'rolled back', version: previous.version };
  });
}

/** How long a deployment or a rollback waits for an update in progress. */
const MAX_WAIT_MS = 2 * 60_000;

/**
 * Makes the resolver of a deployment live with the pinned release, else with the newest that works, fetched if necessary; without
 * tools when none is available. Deployments and scheduled updates change tools in one way, and no template contains a layer version
 * that an update has replaced since.
 * @throws Error when the resolver does not work: the former version stays live; or when its environments cannot be provisioned
 */
export async function provideTools(parts: ToolsUpdate, signal: AbortSignal, maxWaitMs = MAX_WAIT_MS): Promise<void> {
  const { resolver, metrics, log } = parts;
  const { release, failure } = await withUpdateLease(parts, { signal, maxWaitMs }, () =>
    putNewestInPlace(parts, signal, true),
  ).catch(async (error: unknown) => {
    if (!(error instanceof LeaseTaken)) throw error;
    log.warn('Update in progress, deploying the release in use');
    const { inUse } = await readReleases(parts);
    if (inUse) await switchRelease(inUse, parts, signal);
    return { release: inUse, failure: undefined };
  });
  if (failure !== undefined) {
    // The next update tries again.
    metrics.updateFailed();
    log.error('Failed to deploy the newest release', { error: failure });
  }
  if (!release) {
    log.warn('No release available, deploying in maintenance');
    await resolver.switchTo(await resolver.publish((layers) => layers, signal));
  }
  await resolver.provision();
}

/** How long a deletion waits for an update in progress, which would leave a version, or an object in a bucket that was emptied. */
const MAX_REMOVAL_WAIT_MS = 8 * 60_000;

/** Removes every version of the layer once no update is in progress. */
export async function removeTools(
  parts: ToolsUpdate,
  signal: AbortSignal,
  maxWaitMs = MAX_REMOVAL_WAIT_MS,
): Promise<void> {
  const remove = async () => parts.layers.remove(await parts.layers.versions());
  await withUpdateLease(parts, { signal, maxWaitMs }, remove).catch((error: unknown) => {
    // It has been killed: it would have ended.
    if (error instanceof LeaseTaken) return remove();
    throw error;
  });
}

/** Another run is in progress. */
class LeaseTaken extends Error {
  override readonly name = 'LeaseTaken';
}

/** As long as the functions that update may run: a lease is never lost, and that of a killed run ends. */
export const LEASE_SECONDS = 10 * 60;
const POLL_INTERVAL_SECONDS = 5;

/**
 * Runs work in one run at a time.
 * @param options.maxWaitMs how long to wait for another run to end. @default 0
 * @throws LeaseTaken
 */
async function withUpdateLease<T>(
  { state, leaseSeconds = LEASE_SECONDS, pollIntervalSeconds = POLL_INTERVAL_SECONDS, onStep, log }: ToolsUpdate,
  { signal, maxWaitMs = 0 }: { readonly signal: AbortSignal; readonly maxWaitMs?: number },
  work: () => Promise<T>,
): Promise<T> {
  const owner = randomUUID();
  const giveUpAt = Date.now() + maxWaitMs;
  while (!(await state.takeToolsUpdate({ owner, expiresAt: Math.floor(Date.now() / 1000) + leaseSeconds }))) {
    if (Date.now() >= giveUpAt) throw new LeaseTaken('Another run holds the lease');
    await sleep(pollIntervalSeconds * 1000, undefined, { signal });
  }
  onStep('leased');
  try {
    return await work();
  } finally {
    // The lease ends by itself, and the result or the error of the work matters more.
    await state.endToolsUpdate(owner).catch((error) => log.warn('Failed to release lease', { error }));
  }
}
