import { tmpdir } from 'node:os';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { assetFor, createReleases, isReleaseTag, type Releases } from '@reelay/yt-dlp-worker';
import {
  type Environment,
  oneOf,
  optional,
  readVariables,
  required,
  SettingError,
  setting,
  type ValuesOf,
  wholeNumber,
} from '../../core/config/index.ts';
import { createEgress } from '../../core/egress/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createToolMetrics, type ToolMetrics } from '../metrics.ts';
import { createArchive } from './archive.ts';
import { createCanary, createLiveFunction } from './functions.ts';
import { createLayers } from './layers.ts';

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
  /** Between reads of a function that changes, and of a lease that another run has. @default 1, and 5 of the lease */
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
    pollIntervalSeconds,
  };
}

const VARIABLES = {
  tableName: required('TABLE_NAME'),
  bucket: required('TOOLS_BUCKET'),
  layerName: required('LAYER_NAME'),
  canaryFunction: required('CANARY_FUNCTION'),
  resolverFunction: required('RESOLVER_FUNCTION'),
  /** The release to run instead of the newest. */
  pinned: optional('TOOLS_VERSION'),
  /** The processor of the resolver. The update functions may run on another. */
  architecture: required('ARCHITECTURE', oneOf('x86_64', 'arm64')),
  stage: required('STAGE'),
  channel: setting('toolsChannel'),
  canaryLinks: setting('canaryLinks'),
  /** Environments of the resolver that are kept initialized. */
  provisioned: optional('RESOLVER_PROVISIONED', 0, wholeNumber(0, 1_000)),
};

/** The environment of the functions that update the tools layer, as the stack sets it. */
interface ToolsEnvironment extends ValuesOf<typeof VARIABLES> {
  /** The file of a release for the processor of the resolver. */
  readonly asset: string;
}

/** Node names by Lambda architecture. */
const PROCESSORS = { x86_64: 'x64', arm64: 'arm64' } as const;

/** @throws SettingError in one line that names the variable */
export function readToolsEnvironment(environment: Environment): ToolsEnvironment {
  const variables = readVariables(environment, VARIABLES);
  const asset = assetFor('linux', PROCESSORS[variables.architecture], false);
  if (!asset) throw new SettingError(`ARCHITECTURE ${variables.architecture} has no release`);
  if (variables.pinned && !isReleaseTag(variables.pinned))
    throw new SettingError('TOOLS_VERSION must be the tag of a release');
  return { ...variables, asset };
}
