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
  /** Milliseconds to wait for an update that is under way. @default 2 minutes */
  readonly maxWaitMs?: number;
}

/** The tools layer as CloudFormation's custom resource. */
export interface ToolsLayer {
  /** The version that is pinned, else the newest that works, fetched if need be; the placeholder when there is none and none can be had. */
  provide(request: Pick<ResourceRequest, 'signal'>): Promise<ResourceAnswer>;
  /** Removes every version. */
  remove(): Promise<void>;
}

const PATIENCE = 2 * 60_000;
/** Milliseconds to fetch and try a release: with the patience above, within what the function has. */
const PREPARE_TIMEOUT = 6 * 60_000;

/**
 * Hands each deployment the newest good version, so that none takes off or turns back what an update has attached. It
 * attaches nothing itself: CloudFormation does.
 */
export function createToolsLayer(parts: ToolsLayerDependencies): ToolsLayer {
  const { layers, archive, asset, layerName, placeholder, maxWaitMs: patience = PATIENCE, log } = parts;

  const provideInTurn = async (signal: AbortSignal): Promise<Pointer | undefined> => {
    try {
      return await withUpdateLease(parts, signal, patience, (held) => newestGood(parts, held));
    } catch (error) {
      if (!(error instanceof LeaseTaken)) throw error;
      log.warn('An update is under way: the release in use is deployed');
      return releaseInUse(await archive.pointer(), await layers.versions(), asset);
    }
  };

  /** So that it is still there when CloudFormation goes back to it: else the stack would be stuck in its rollback. */
  const note = (arn: string) =>
    archive
      .recordDeployed(arn)
      .catch((error) => log.warn('Nobody keeps the layer version that is deployed', { arn, error: String(error) }));

  return {
    async provide({ signal }) {
      const good = await provideInTurn(signal);
      if (!good) log.warn('No release can be had: the instance is deployed in maintenance');
      else await note(good.layerVersionArn);
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
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(PREPARE_TIMEOUT)]);
      const next = await prepareRelease(candidate, versions, parts, bounded);
      await archive.movePointer(next);
      onStep('pointed');
      good = next;
      metrics.updated();
    }
    if (failure) throw failure;
  } catch (error) {
    // Not worth failing a deployment: it goes on with what there is, and the next update tries again.
    signal.throwIfAborted();
    metrics.updateFailed();
    log.error('The newest release is not deployed', { error });
  }
  if (good) {
    await recordTools(good, parts);
    metrics.age(ageInHours(good.version, Date.now()));
  }
  return good;
}
