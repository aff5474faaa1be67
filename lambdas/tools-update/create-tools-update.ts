import { tmpdir } from 'node:os';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { createReleases, type Releases } from '@reelay/yt-dlp-worker';
import type { Environment } from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createToolMetrics, type ToolMetrics } from '../runtime/index.ts';
import { createArchive, createCanary, createLayers, createLiveFunction } from './aws/index.ts';
import { readToolsEnvironment } from './tools-environment.ts';

/** The step that an update has completed, for the log and for tests that kill it there. */
export type Step =
  | 'leased'
  | 'looked'
  | 'fetched'
  | 'archived'
  | 'published'
  | 'tried'
  | 'checked'
  | 'maintained'
  | 'attached'
  | 'pointed'
  | 'recorded'
  | 'cleared'
  | 'pruned';

interface ToolsUpdateOptions {
  readonly log: Log;
  /** @default those of the stage */
  readonly metrics?: ToolMetrics;
  /** @default yt-dlp's own, through the egress guard */
  readonly releases?: Releases;
  readonly onStep?: (step: Step) => void;
  /** Leases of a killed run expire after this time. @default ten minutes for the update, one minute for maintenance */
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

/** What an update works with. */
export type ToolsUpdate = ReturnType<typeof createToolsUpdate>;

/** Creates what an update works with, with AWS clients from the environment. @throws SettingError in one line that names the variable */
export function createToolsUpdate(variables: Environment, options: ToolsUpdateOptions) {
  const { log, leaseSeconds, pollIntervalSeconds } = options;
  const environment = readToolsEnvironment(variables);
  const requestHandler = { connectionTimeout: 5_000, requestTimeout: CALL_TIMEOUT_MS, throwOnRequestTimeout: true };
  const client = new LambdaClient({ maxAttempts: MAX_ATTEMPTS, requestHandler });
  const resolver = {
    functionName: environment.resolverFunction,
    alias: LIVE_ALIAS,
    provisioned: environment.provisioned,
  };
  const { request: download } = createEgress({ allow: [], log });
  return {
    ...environment,
    releases: options.releases ?? createReleases({ channel: environment.channel, download }),
    layers: createLayers({ ...environment, client }),
    archive: createArchive({ ...environment, client: new S3Client({ requestHandler }) }),
    /** Tests a layer in a separate function before it is attached to the resolver. */
    canary: createCanary({ client, functionName: environment.canaryFunction, pollIntervalSeconds }),
    resolver: createLiveFunction({ ...resolver, client, pollIntervalSeconds }),
    state: createState({ storage: createDynamoDbStorage(environment), log }),
    /** Folder of the archive between download and upload. */
    scratchDir: tmpdir(),
    metrics: options.metrics ?? createToolMetrics(environment.stage),
    log,
    onStep(step: Step) {
      log.info('Tools update step completed', { step });
      options.onStep?.(step);
    },
    leaseSeconds,
  };
}
