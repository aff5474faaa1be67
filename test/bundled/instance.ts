import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundle } from '../../infra/bundle.ts';
import { operations, silentLog } from '../../layers/contract/index.ts';
import { createState, createTableClient, ensureTable } from '../../layers/state/index.ts';
import { startEmbeddedTable } from '../../local/embedded-table.ts';
import { createGateway, type HttpApiHandler } from '../../local/gateway.ts';
import { ALLOWED_ORIGINS, PLUGIN_DIR } from '../contract/target.ts';
import { installedTools } from '../installed-tools.ts';
import { type BundledFunction, startFunction } from './bundled-function.ts';
import { startFront } from './front.ts';
import { startInvokeApi } from './invoke-api.ts';

/** What is deployed, on this machine: every bundle in a process of its own, behind one port. */
export interface BundledInstance {
  readonly baseUrl: string;
  readonly functions: ReadonlyMap<string, BundledFunction>;
  close(): Promise<void>;
}

export interface BundledInstanceOptions {
  /** `host:port` of the media origin. */
  readonly originHost: string;
  /** @default whoever asks is answered */
  readonly originSecret?: string;
}

const TABLE = 'reelay-bundled';
const ROUTES: Readonly<Record<string, string>> = {
  GetAppInfo: 'get-app-info',
  GetRequestCount: 'get-request-count',
  GetResource: 'get-resource',
};
const OTHERS = ['get-api-description', 'not-found'];

/** Where the functions look for AWS: nowhere but on this machine. */
const AWS = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_EC2_METADATA_DISABLED: 'true',
};

export async function startBundledInstance({
  originHost,
  originSecret,
}: BundledInstanceOptions): Promise<BundledInstance> {
  await using parts = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'reelay-bundled-'));
  parts.defer(() => rm(dir, { recursive: true, force: true }));
  const { dist, layer } = await layOut(dir);
  const { ffmpeg } = await installedTools();

  const table = await startEmbeddedTable({ dir: join(dir, 'table') });
  parts.defer(table.close);
  await prepareTable(table.endpoint);
  const functions = new Map<string, BundledFunction>();
  const invokeApi = await startInvokeApi((name) => functions.get(name));
  parts.defer(invokeApi.close);

  const common = {
    ...AWS,
    TABLE_NAME: TABLE,
    STAGE: 'test',
    TMPDIR: dir,
    REELAY_ENVIRONMENT: 'Development',
    CORS_ALLOWED_ORIGINS: ALLOWED_ORIGINS.join(','),
    EGRESS_ALLOW: originHost,
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    AWS_ENDPOINT_URL_LAMBDA: invokeApi.endpoint,
    TOOLS_LAYER_DIR: layer,
  };
  const env = { ...common, ...(originSecret && { ORIGIN_SECRET: originSecret }) };
  for (const name of [...Object.values(ROUTES), ...OTHERS]) {
    const started = await startFunction(join(dist, 'functions', name, 'index.mjs'), name, env);
    parts.defer(started.close);
    functions.set(name, started);
  }
  const task = await startTask(join(dist, 'stream-service', 'main.mjs'), {
    ...common,
    HOST: '127.0.0.1',
    PORT: '0',
    TRUSTED_PROXIES: '0',
    YT_DLP_PATH: join(layer, PROGRAM),
    FFMPEG_PATH: ffmpeg.path,
    DATA_DIR: join(dir, 'scratch'),
    MAX_STREAMS_PER_CLIENT: '1000',
  });
  parts.defer(task.close);
  const front = await startFront(gatewayTo(functions), task.port);
  parts.defer(front.close);

  const started = parts.move();
  return { baseUrl: front.baseUrl, functions, close: () => started.disposeAsync() };
}

/** As a release for Linux names it. */
const PROGRAM = 'yt-dlp_linux';

/** The bundles with the test's extractor among the worker's plugins, and a layer with the real yt-dlp. */
async function layOut(dir: string): Promise<{ dist: string; layer: string }> {
  const [dist, layer] = [join(dir, 'dist'), join(dir, 'opt')];
  await bundle({ outDir: dist });
  for (const host of ['functions/get-resource', 'stream-service']) {
    await cp(PLUGIN_DIR, join(dist, host, 'worker'), { recursive: true });
  }
  const { ytDlp } = await installedTools();
  const command = ytDlp.command.map((word) => `'${word}'`).join(' ');
  await mkdir(layer);
  await writeFile(join(layer, PROGRAM), `#!/bin/sh\nexec ${command} "$@"\n`);
  await chmod(join(layer, PROGRAM), 0o755);
  return { dist, layer };
}

/** As the stack and the first update leave it. */
async function prepareTable(endpoint: string): Promise<void> {
  const client = createTableClient({ endpoint });
  await ensureTable(client, TABLE);
  await createState({ client, tableName: TABLE }).putTools({
    ytDlp: 'of the layer',
    ffmpeg: 'of the image',
    verifiedBy: { ytDlp: 'signature', ffmpeg: 'system' },
    installedAt: Math.floor(Date.now() / 1000),
  });
  client.destroy();
}

function gatewayTo(functions: ReadonlyMap<string, BundledFunction>) {
  const to = (name: string): HttpApiHandler => {
    const called = functions.get(name);
    if (!called) throw new Error(`No function ${name}`);
    return (event) => called.invoke(event) as ReturnType<HttpApiHandler>;
  };
  const routes = operations.flatMap(({ operationId, path }) => {
    const name = ROUTES[operationId];
    return name ? [[path.toLowerCase(), to(name)] as const] : [];
  });
  return createGateway({
    routes: new Map([...routes, ['/swagger*', to('get-api-description')]]),
    fallback: to('not-found'),
    log: silentLog,
  });
}

async function startTask(main: string, env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    await ended;
  };
  for await (const line of createInterface(child.stdout)) {
    const { msg, port, error } = JSON.parse(line);
    if (msg === 'The task answers') {
      child.stdout.resume();
      return { port: Number(port), close };
    }
    if (msg === 'The task cannot start') throw new Error(JSON.stringify(error));
  }
  throw new Error('The task ended');
}
