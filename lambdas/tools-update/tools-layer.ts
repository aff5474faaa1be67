import type { ResourceAnswer, ResourceRequest } from '../runtime/index.ts';
import { ageInHours, releaseInUse } from './plan.ts';
import { prepareRelease } from './prepare-release.ts';
import type { Pointer } from './types.ts';
import { findRelease, recordTools, type UpdateDependencies, withUpdateLease } from './update-tools.ts';
import { LeaseTaken } from './with-lease.ts';

export interface ToolsLayerDependencies extends UpdateDependencies {
  readonly layerName: string;
  /** The layer version to deploy with while there are no tools. */
  readonly placeholder: string;
  /** How long to wait for an update in progress. @default 2 minutes */
  readonly maxWaitMs?: number;
}

/** The tools layer as CloudFormation's custom resource. */
export interface ToolsLayer {
  /** The pinned version, else the newest that works, fetched if necessary; the placeholder when none is available. */
  provide(request: Pick<ResourceRequest, 'signal'>): Promise<ResourceAnswer>;
  /** Removes every version. */
  remove(): Promise<void>;
}

const MAX_WAIT_MS = 2 * 60_000;
/** To fetch and try a release. With the wait above, this stays within the timeout of the function. */
const PREPARE_TIMEOUT_MS = 6 * 60_000;

/**
 * Gives each deployment the newest good version, so that no deployment detaches or reverts what an update has attached.
 * CloudFormation attaches it.
 */
export function createToolsLayer(parts: ToolsLayerDependencies): ToolsLayer {
  const { layers, archive, asset, layerName, placeholder, maxWaitMs = MAX_WAIT_MS, log } = parts;

  const provideInTurn = async (signal: AbortSignal): Promise<Pointer | undefined> => {
    try {
      return await withUpdateLease(parts, signal, maxWaitMs, (held) => newestGood(parts, held));
    } catch (error) {
      if (!(error instanceof LeaseTaken)) throw error;
      log.warn('Update in progress, deploying the release in use');
      return releaseInUse(await archive.pointer(), await layers.versions(), asset);
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
      return { physicalId: layerName, data: { LayerVersionArn: good?.layerVersionArn ?? placeholder } };
    },
    async remove() {
      for (const { number } of await layers.versions()) await layers.remove(number);
    },
  };
}

async function newestGood(parts: ToolsLayerDependencies, signal: AbortSignal): Promise<Pointer | undefined> {
  const { archive, metrics, log, onStep } = parts;
  const { versions, inUse, candidate, failure } = await findRelease(parts, signal);
  let good = inUse;
  try {
    if (candidate) {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(PREPARE_TIMEOUT_MS)]);
      const next = await prepareRelease(candidate, versions, parts, bounded);
      await archive.movePointer(next);
      onStep('pointed');
      good = next;
      metrics.updated();
    }
    if (failure) throw failure;
  } catch (error) {
    // Does not fail the deployment, which uses the release in use; the next update tries again.
    signal.throwIfAborted();
    metrics.updateFailed();
    log.error('Failed to deploy the newest release', { error });
  }
  if (good) {
    await recordTools(good, parts);
    metrics.age(ageInHours(good.version, Date.now()));
  }
  return good;
}
