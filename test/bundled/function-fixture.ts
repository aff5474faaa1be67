import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createState } from '../../core/state/create-state.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { bundle } from '../../infra/build/bundle.ts';
import { ensureTable, startDynamoDb } from '../support/dynamodb.ts';
import { type BundledFunction, startFunction } from './bundled-function.ts';
import { startInvokeApi } from './invoke-api.ts';

/** Bundles with the parts of AWS that they use: a table with a tools record, and Lambda's Invoke API. */
export type FunctionFixture = Awaited<ReturnType<typeof startFunctionFixture>>;

const TABLE = 'reelay-bundled';

/** What the edge sends, as the table has it. */
export const FROM_EDGE = { 'x-reelay-origin': 'only-the-edge-knows' };

/** Endpoints on this machine only. */
const AWS = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_EC2_METADATA_DISABLED: 'true',
};

/** @param only names of the functions to bundle */
export async function startFunctionFixture(only: readonly string[]) {
  await using parts = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'reelay-bundled-'));
  parts.defer(() => rm(dir, { recursive: true, force: true }));
  const dist = join(dir, 'dist');
  await bundle({ outDir: dist, only });
  const table = await startDynamoDb();
  parts.defer(table.close);
  await prepareTable(table);
  /** Running functions by name, which the Invoke API finds. */
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
    /** A writable folder, removed on close. */
    dir,
    /** The output folder of `bundle`. */
    dist,
    /** Environment variables of every function. */
    environment,
    functions,
    /** Starts a function that ends with the fixture. */
    async start(name: string, env: Readonly<Record<string, string>> = environment) {
      const started = await startFunction(join(dist, 'functions', name, 'index.mjs'), name, env);
      ending.defer(started.close);
      return started;
    },
    close: () => ending.disposeAsync(),
  };
}

/** The table after deployment and the first tools update. */
async function prepareTable({ client }: Awaited<ReturnType<typeof startDynamoDb>>): Promise<void> {
  await ensureTable(client, TABLE);
  const state = createState({ storage: createDynamoDbStorage({ client, tableName: TABLE }) });
  await state.rotateOriginSecret('initial', FROM_EDGE['x-reelay-origin']);
  await state.putTools({
    ytDlp: 'of the layer',
    ffmpeg: 'of the image',
    verifiedBy: { ytDlp: 'signature', ffmpeg: 'registry' },
    installedAt: Math.floor(Date.now() / 1000),
  });
}
