import { tmpdir } from 'node:os';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { createReleases, type Releases } from '@reelay/yt-dlp-worker';
import { createEgress } from '../../core/egress/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import type { ToolMetrics } from '../runtime/index.ts';
import { createArchive, createCanary, createFunctionLayers, createLayers, createLiveFunction } from './aws/index.ts';
import type { ToolsEnvironment } from './tools-environment.ts';
import type { Step, UpdateToolsDependencies } from './types.ts';

export interface ToolsUpdateOptions {
  readonly environment: ToolsEnvironment;
  readonly metrics: ToolMetrics;
  readonly log: Log;
  /** @default yt-dlp's own, through the egress guard */
  readonly releases?: Releases;
  readonly onStep?: (step: Step) => void;
  readonly leaseSeconds?: number;
  /** Between reads of a function that changes. @default 1 */
  readonly pollIntervalSeconds?: number;
}

/** Longer than the canary may run, since its response is awaited. */
const CALL_TIMEOUT_MS = 150_000;
/** The alias of the resolver that the HTTP API invokes. */
const LIVE_ALIAS = 'live';
/** The control plane of Lambda throttles early. */
const MAX_ATTEMPTS = 6;

/** Creates the dependencies of an update, with AWS clients from the environment. */
export function createToolsUpdate(options: ToolsUpdateOptions): UpdateToolsDependencies {
  const { environment, metrics, log, leaseSeconds, pollIntervalSeconds: interval } = options;
  const { channel, pinned, asset, bucket, layerName, architecture, canaryFunction, resolverFunction, tableName } =
    environment;
  const bounds = { connectionTimeout: 5_000, requestTimeout: CALL_TIMEOUT_MS, throwOnRequestTimeout: true };
  const lambda = new LambdaClient({ maxAttempts: MAX_ATTEMPTS, requestHandler: bounds });
  const s3 = new S3Client({ requestHandler: bounds });
  const functionLayers = (functionName: string) =>
    createFunctionLayers({ client: lambda, functionName, pollIntervalSeconds: interval });
  const onStep = (step: Step) => {
    log.info('Tools update step completed', { step });
    options.onStep?.(step);
  };
  const { request: download } = createEgress({ allow: [], log });
  return {
    releases: options.releases ?? createReleases({ channel, download }),
    layers: createLayers({ client: lambda, layerName, bucket, architecture }),
    archive: createArchive({ client: s3, bucket }),
    canary: createCanary({ client: lambda, functionName: canaryFunction, layers: functionLayers(canaryFunction) }),
    resolver: createLiveFunction({
      client: lambda,
      functionName: resolverFunction,
      alias: LIVE_ALIAS,
      pollIntervalSeconds: interval,
      provisioned: environment.provisioned,
      latest: functionLayers(resolverFunction),
    }),
    canaryLinks: environment.canaryLinks,
    state: createState({ storage: createDynamoDbStorage({ tableName }), log }),
    scratchDir: tmpdir(),
    asset,
    pinned,
    metrics,
    log,
    onStep,
    leaseSeconds,
  };
}
