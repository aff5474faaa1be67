import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createState } from '../../core/state/create-state.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/dynamodb-storage.ts';
import { bundle } from '../../infra/build/bundle.ts';
import { type DynamoDbFixture, ensureTable, startDynamoDb } from '../support/dynamodb.ts';
import { type BundledFunction, startFunction } from './bundled-function.ts';
import { startInvokeApi } from './invoke-api.ts';

/** Bundles, and what they meet of AWS: a table with tools on record, and each other. */
export interface FunctionRig {
  /** To write to; gone afterwards. */
  readonly dir: string;
  /** What `bundle` made. */
  readonly dist: string;
  /** What every function is told. */
  readonly environment: Readonly<Record<string, string>>;
  /** Those that may be invoked, by name: whoever starts one puts it here. */
  readonly functions: Map<string, BundledFunction>;
  /** Starts one of them, to end with the rig. @param env instead of `environment` */
  start(name: string, env?: Readonly<Record<string, string>>): Promise<BundledFunction>;
  close(): Promise<void>;
}

const TABLE = 'reelay-bundled';

/** Nowhere but on this machine. */
const AWS = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/** @param only what is bundled, by name */
export async function startFunctionRig(only: readonly string[]): Promise<FunctionRig> {
  await using parts = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'reelay-bundled-'));
  parts.defer(() => rm(dir, { recursive: true, force: true }));
  const dist = join(dir, 'dist');
  await bundle({ outDir: dist, only });
  const table = await startDynamoDb();
  parts.defer(table.close);
  await prepareTable(table);
  const functions = new Map<string, BundledFunction>();
  const invokeApi = await startInvokeApi((name) => functions.get(name));
  parts.defer(invokeApi.close);

  const environment = {
    ...AWS,
    TABLE_NAME: TABLE,
    STAGE: 'test',
    TMPDIR: dir,
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    AWS_ENDPOINT_URL_LAMBDA: invokeApi.endpoint,
  };
  const ending = parts.move();
  return {
    dir,
    dist,
    environment,
    functions,
    async start(name, env = environment) {
      const started = await startFunction(join(dist, 'functions', name, 'index.mjs'), name, env);
      ending.defer(started.close);
      return started;
    },
    close: () => ending.disposeAsync(),
  };
}

/** As the stack and the first update leave it. */
async function prepareTable({ client }: DynamoDbFixture): Promise<void> {
  await ensureTable(client, TABLE);
  await createState({ storage: createDynamoDbStorage({ client, tableName: TABLE }) }).putTools({
    ytDlp: 'of the layer',
    ffmpeg: 'of the image',
    verifiedBy: { ytDlp: 'signature', ffmpeg: 'system' },
    installedAt: Math.floor(Date.now() / 1000),
  });
}
