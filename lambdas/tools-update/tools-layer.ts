import type { ResourceAnswer, ResourceRequest } from '../runtime/index.ts';
import { getAgeInHours, keepPrevious } from './plan.ts';
import { prepareRelease } from './prepare-release.ts';
import { switchRelease, switchWithoutTools } from './switch-release.ts';
import type { Pointer, UpdateToolsDependencies } from './types.ts';
import { findRelease, readReleases, recordTools, withUpdateLease } from './update-tools.ts';
import { LeaseTaken } from './with-lease.ts';

export interface ToolsLayerDependencies extends UpdateToolsDependencies {
  readonly layerName: string;
  /** How long to wait for an update in progress. @default 2 minutes */
  readonly maxWaitMs?: number;
}

/** The tools layer as CloudFormation's custom resource. */
export interface ToolsLayer {
  /**
   * Makes the resolver of this deployment live with the pinned release, else with the newest that works, fetched if
   * necessary; without tools when none is available.
   * @throws Error when the resolver does not work: the former version stays live; or when its environments cannot be
   * provisioned
   */
  provide(request: Pick<ResourceRequest, 'signal'>): Promise<ResourceAnswer>;
  /** Removes every version. */
  remove(): Promise<void>;
}

const MAX_WAIT_MS = 2 * 60_000;
/** Time to fetch and try a release. With the wait above, it stays within the timeout of the function. */
const PREPARE_TIMEOUT_MS = 6 * 60_000;

/**
 * Publishes the resolver of each deployment with the release to use, and moves its alias: deployments and scheduled
 * updates change tools in one way, and no template contains a layer version that an update has replaced since.
 */
export function createToolsLayer(parts: ToolsLayerDependencies): ToolsLayer {
  const { layers, archive, layerName, maxWaitMs = MAX_WAIT_MS, log } = parts;

  const putInPlace = async (good: Pointer | undefined, signal: AbortSignal) => {
    if (!good) return switchWithoutTools(parts, signal);
    await switchRelease(good, parts, signal);
    await recordTools(good, parts);
    parts.metrics.age(getAgeInHours(good.version, Date.now()));
  };

  const provideInTurn = async (signal: AbortSignal): Promise<Pointer | undefined> => {
    try {
      return await withUpdateLease(parts, { signal, maxWaitMs }, async (held) => {
        const good = await findNewestGood(parts, held);
        await putInPlace(good, held);
        return good;
      });
    } catch (error) {
      if (!(error instanceof LeaseTaken)) throw error;
      log.warn('Update in progress, deploying the release in use');
      const { inUse } = await readReleases(parts);
      await putInPlace(inUse, signal);
      return inUse;
    }
  };

  /** Keeps the version from being pruned: CloudFormation may roll back to it, which fails if it is gone. */
  const recordDeployed = (arn: string) =>
    archive
      .recordDeployed(arn)
      .catch((error) => log.warn('Failed to record the deployed layer version', { arn, error }));

  return {
    async provide({ signal }) {
      const good = await provideInTurn(signal);
      if (!good) log.warn('No release available, deploying in maintenance');
      else await recordDeployed(good.layerVersionArn);
      await parts.resolver.provision();
      return { physicalId: layerName };
    },
    async remove() {
      for (const { number } of await layers.versions()) await layers.remove(number);
    },
  };
}

/** The release to deploy. A newer one that fails does not fail the deployment, which uses the release in use. */
async function findNewestGood(parts: UpdateToolsDependencies, signal: AbortSignal): Promise<Pointer | undefined> {
  const { metrics, log } = parts;
  const { versions, inUse, candidate, failure } = await findRelease(parts, signal);
  try {
    if (candidate) {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(PREPARE_TIMEOUT_MS)]);
      const next = await prepareRelease(candidate, parts, { versions, signal: bounded });
      metrics.updated();
      return keepPrevious(inUse, next);
    }
    if (failure) throw failure;
  } catch (error) {
    // The next update tries again.
    signal.throwIfAborted();
    metrics.updateFailed();
    log.error('Failed to deploy the newest release', { error });
  }
  return inUse;
}
