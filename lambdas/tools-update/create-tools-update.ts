import { tmpdir } from 'node:os';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { createEgress } from '../../core/egress/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createState } from '../../core/state/index.ts';
import { createReleases, type Releases } from '../../layers/tools/index.ts';
import type { ToolMetrics } from '../runtime/index.ts';
import { createArchive, createCanary, createFunctionLayers, createLayers } from './aws/index.ts';
import type { ToolsEnvironment } from './tools-environment.ts';
import type { FunctionLayers, Step } from './types.ts';
import type { UpdateDependencies } from './update-tools.ts';

export interface ToolsUpdateOptions {
  readonly environment: ToolsEnvironment;
  readonly metrics: ToolMetrics;
  readonly log: Log;
  /** @default yt-dlp's own, through the egress guard */
  readonly releases?: Releases;
  readonly onStep?: (step: Step) => void;
  readonly leaseSeconds?: number;
  /** Seconds between two looks at a function that changes. @default 1 */
  readonly pollIntervalSeconds?: number;
}

export interface ToolsUpdate {
  readonly dependencies: UpdateDependencies & { readonly placeholder: string };
  /** The function of this name. */
  functionLayers(functionName: string): FunctionLayers;
}

/** Milliseconds: longer than the canary may run, since its answer is waited for. */
const CALL_TIMEOUT = 150_000;
/** Lambda's control plane throttles early. */
const ATTEMPTS = 6;

/** All that the update stands on, over the AWS clients of this function's environment. */
export function createToolsUpdate(options: ToolsUpdateOptions): ToolsUpdate {
  const { environment, metrics, log, leaseSeconds, pollIntervalSeconds: interval } = options;
  const { channel, pinned, asset, bucket, layerName, architecture, canaryFunction, placeholder, tableName } =
    environment;
  const bounds = { connectionTimeout: 5_000, requestTimeout: CALL_TIMEOUT, throwOnRequestTimeout: true };
  const lambda = new LambdaClient({ maxAttempts: ATTEMPTS, requestHandler: bounds });
  const s3 = new S3Client({ requestHandler: bounds });
  const functionLayers = (functionName: string) =>
    createFunctionLayers({
      client: lambda,
      functionName,
      ...(interval !== undefined && { pollIntervalSeconds: interval }),
    });
  const onStep = (step: Step) => {
    log.info('The update of the tools goes on', { step });
    options.onStep?.(step);
  };
  return {
    dependencies: {
      releases: options.releases ?? createReleases({ channel, download: createEgress({ allow: [], log }).request }),
      layers: createLayers({ client: lambda, layerName, bucket, architecture }),
      archive: createArchive({ client: s3, bucket }),
      canary: createCanary({ client: lambda, functionName: canaryFunction, layers: functionLayers(canaryFunction) }),
      state: createState({ client: {}, tableName, log }),
      scratchDir: tmpdir(),
      ...{ asset, placeholder, metrics, log, onStep },
      ...(pinned && { pinned }),
      ...(leaseSeconds !== undefined && { leaseSeconds }),
    },
    functionLayers,
  };
}
