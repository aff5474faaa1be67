import { randomUUID } from 'node:crypto';
import {
  CreateFunctionCommand,
  GetFunctionConfigurationCommand,
  LambdaClient,
  PublishLayerVersionCommand,
} from '@aws-sdk/client-lambda';
import { CreateBucketCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { silentLog } from '../../../core/log/index.ts';
import type { State } from '../../../core/state/state.ts';
import type { Pointer } from '../../../lambdas/tools-update/archive.ts';
import { createToolsUpdate, type Step, type ToolsUpdate } from '../../../lambdas/tools-update/create-tools-update.ts';
import {
  installMissingTools,
  type RollBackOutcome,
  rollBack,
  type UpdateOutcome,
  updateTools,
} from '../../../lambdas/tools-update/update-tools.ts';
import { createReleases } from '../../../packages/yt-dlp-worker/src/yt-dlp/releases.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { ensureTable } from '../../support/dynamodb.ts';
import { FUNCTION_ROLE, REGION, useMoto } from '../../support/moto.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type ReleasePages, startReleasePages } from '../../yt-dlp-worker/release-pages.ts';
import { createPatientState, createPatientTableClient } from './patient-state.ts';

export const ASSET = 'yt-dlp_linux.zip';

/** The AWS resources of the tools update: bucket, table, layers, canary and resolver. */
export interface ToolsUpdateFixture {
  /** Environment variables of the functions, as the stack sets them. */
  readonly environment: Readonly<Record<string, string>>;
  readonly state: State;
  /** Layer versions that the resolver has from the start. */
  readonly others: readonly [string, string];
  /** Names of the recorded metrics: `updated`, `failed`, `maintained`, `age`. */
  readonly figures: string[];
  readonly steps: Step[];
  /** Deploys both functions with this release pinned; undefined: none. */
  pin(version: string | undefined): void;
  assemble(): ReturnType<typeof createToolsUpdate>;
  /** One run of the update. */
  update(signal?: AbortSignal): Promise<UpdateOutcome>;
  /** One run of the schedule that installs missing tools. */
  installMissing(): Promise<UpdateOutcome>;
  /** One run that the alarm on failed resolves starts. */
  rollBack(): Promise<RollBackOutcome>;
  /** Layers of the live version of the resolver. */
  attached(): Promise<string[]>;
  pointer(): Promise<Pointer | undefined>;
  /** In the bucket. */
  archives(): Promise<string[]>;
}

/** moto and release pages for the tests of a file. */
export async function useReleases() {
  const moto = useMoto();
  const pages = closeAfterwards(await startReleasePages());
  const root = await temporaryFolder();
  return {
    moto,
    pages,
    root,
    /** An account whose stack has no release yet, while none is published. */
    async createEmptyFixture(): Promise<ToolsUpdateFixture> {
      pages.files.clear();
      pages.latest = undefined;
      await moto.reset();
      return createFixture({ endpoint: moto.endpoint, pages });
    },
  };
}

/** Fake credentials for servers on loopback. */
const ACCOUNT = { AWS_REGION: REGION, AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };

export interface FixtureOptions {
  /** Where S3 and DynamoDB are, and Lambda unless it is elsewhere. */
  readonly endpoint: string;
  readonly lambdaEndpoint?: string;
  readonly pages: ReleasePages;
  readonly leaseSeconds?: number;
}

export async function createFixture({
  endpoint,
  lambdaEndpoint,
  pages,
  leaseSeconds,
}: FixtureOptions): Promise<ToolsUpdateFixture> {
  Object.assign(process.env, ACCOUNT, {
    AWS_ENDPOINT_URL: endpoint,
    AWS_ENDPOINT_URL_LAMBDA: lambdaEndpoint ?? endpoint,
  });
  const id = randomUUID().slice(0, 8);
  const names = { bucket: `tools-${id}`, table: `table-${id}`, canary: `canary-${id}`, resolver: `resolver-${id}` };
  const lambda = new LambdaClient();
  const s3 = new S3Client();
  await s3.send(
    new CreateBucketCommand({ Bucket: names.bucket, CreateBucketConfiguration: { LocationConstraint: REGION } }),
  );
  await ensureTable(createPatientTableClient(), names.table);
  const state = createPatientState(names.table);

  const publish = async (LayerName: string) => {
    const Content = { ZipFile: Buffer.from(LayerName) };
    return (await lambda.send(new PublishLayerVersionCommand({ LayerName, Content }))).LayerVersionArn ?? '';
  };
  const [one, two] = [await publish(`insights-${id}`), await publish(`secrets-${id}`)];
  for (const [FunctionName, Layers] of [
    [names.canary, []],
    [names.resolver, [one, two]],
  ] as const) {
    const code = { Code: { ZipFile: Buffer.from('code') }, Handler: 'index.handler', Runtime: 'nodejs24.x' } as const;
    await lambda.send(new CreateFunctionCommand({ FunctionName, ...code, Role: FUNCTION_ROLE, Layers: [...Layers] }));
  }

  const environment: Record<string, string> = {
    TABLE_NAME: names.table,
    TOOLS_BUCKET: names.bucket,
    LAYER_NAME: `layer-${id}`,
    STAGE: 'test',
    CANARY_FUNCTION: names.canary,
    RESOLVER_FUNCTION: names.resolver,
    TOOLS_CHANNEL: 'stable',
    ARCHITECTURE: 'x86_64',
  };
  const figures: string[] = [];
  const steps: Step[] = [];
  const egress = createEgress({ allow: [pages.host] });
  const assemble = () => {
    const created = createToolsUpdate(environment, {
      metrics: {
        updateFailed: () => figures.push('failed'),
        missing: () => figures.push('missing'),
        maintained: () => figures.push('maintained'),
        age: () => figures.push('age'),
      },
      log: silentLog,
      releases: createReleases({ channel: 'stable', url: pages.url, key: pages.key, download: egress.request }),
      onStep: (step) => steps.push(step),
      pollIntervalSeconds: 0.01,
      ...(leaseSeconds !== undefined && { leaseSeconds }),
    });
    const parts = { ...created, state };
    return lambdaEndpoint ? parts : withCheck(parts, names.resolver);
  };
  const parts = assemble();

  return {
    environment,
    state,
    others: [one, two],
    figures,
    steps,
    assemble,
    pin: (version) => void Object.assign(environment, { TOOLS_VERSION: version ?? '' }),
    update: (signal = new AbortController().signal) => updateTools(assemble(), signal),
    installMissing: () => installMissingTools(assemble(), new AbortController().signal),
    rollBack: () => rollBack(assemble(), new AbortController().signal),
    async attached() {
      return [...(await parts.resolver.read()).layers];
    },
    pointer: parts.archive.pointer,
    async archives() {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: names.bucket, Prefix: 'releases/' }));
      return Contents.map(({ Key = '' }) => Key);
    },
  };
}

/**
 * A resolver that works and reports the release of its layer: moto cannot answer by the version that is invoked, and has no
 * provisioned concurrency.
 */
function withCheck(parts: ToolsUpdate, FunctionName: string): ToolsUpdate {
  const lambda = new LambdaClient();
  const check = async (Qualifier: string) => {
    const { Layers = [] } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName, Qualifier }));
    const layer = (await parts.layers.versions()).find(({ arn }) => Layers.some(({ Arn }) => Arn === arn));
    return { ok: true, version: layer?.description.split(' ')[1] ?? 'none' } as const;
  };
  return { ...parts, resolver: { ...parts.resolver, check, provision: async () => undefined } };
}
