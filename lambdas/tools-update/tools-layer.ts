import type { ToolsUpdate } from './create-tools-update.ts';
import { switchRelease } from './switch-release.ts';
import { LeaseTaken, withUpdateLease } from './update-lease.ts';
import { putNewestInPlace, readReleases } from './update-tools.ts';

/** How long a deployment or a rollback waits for an update in progress. */
export const MAX_WAIT_MS = 2 * 60_000;

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

/** Removes every version of the layer. */
export const removeTools = async ({ layers }: ToolsUpdate): Promise<void> => layers.remove(await layers.versions());
