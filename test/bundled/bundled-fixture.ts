import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { operations } from '../../core/api/operations.ts';
import { silentLog } from '../../core/log/log.ts';
import { createGateway, type HttpApiHandler } from '../../local/gateway/gateway.ts';
import { ALLOWED_ORIGINS, PLUGIN_DIR } from '../contract/target.ts';
import { installedTools } from '../support/installed-tools.ts';
import type { BundledFunction } from './bundled-function.ts';
import { startFront } from './front.ts';
import { startFunctionFixture } from './function-fixture.ts';

/** The deployed bundles on this machine: each in a separate process, behind one port. */
export interface BundledFixture {
  readonly baseUrl: string;
  readonly functions: ReadonlyMap<string, BundledFunction>;
  close(): Promise<void>;
}

export interface BundledFixtureOptions {
  /** `host:port` of each media origin that the instance may reach. */
  readonly originHosts: readonly string[];
  /** @default undefined: requests need no secret */
  readonly originSecret?: string;
}

const ROUTES: Readonly<Record<string, string>> = {
  GetAppInfo: 'get-app-info',
  GetRequestCount: 'get-request-count',
  GetResource: 'get-resource',
  GetDetails: 'get-resource',
  Get: 'get-resource',
  Feed: 'get-resource',
};
const FUNCTIONS = [...new Set(Object.values(ROUTES)), 'get-api-description', 'not-found'];

export async function startBundledFixture({
  originHosts,
  originSecret,
}: BundledFixtureOptions): Promise<BundledFixture> {
  await using parts = new AsyncDisposableStack();
  const functionFixture = await startFunctionFixture([...FUNCTIONS, 'stream-service']);
  parts.defer(functionFixture.close);
  const { dir, dist, functions } = functionFixture;
  for (const host of ['functions/get-resource', 'stream-service'])
    await cp(PLUGIN_DIR, join(dist, host, 'plugins'), { recursive: true });
  const layer = await prepareLayer(dir);
  const { ffmpeg } = await installedTools();
  const common = {
    ...functionFixture.environment,
    REELAY_ENVIRONMENT: 'Development',
    CORS_ALLOWED_ORIGINS: ALLOWED_ORIGINS.join(','),
    EGRESS_ALLOW: originHosts.join(','),
    TOOLS_LAYER_DIR: layer,
  };
  const env = { ...common, ...(originSecret && { ORIGIN_SECRET: originSecret }) };
  for (const name of FUNCTIONS) functions.set(name, await functionFixture.start(name, env));
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

/** Name in a release for Linux. */
const PROGRAM = 'yt-dlp_linux';

/** Creates a layer with the real yt-dlp in a folder. @returns the folder of the layer */
export async function prepareLayer(dir: string): Promise<string> {
  const { ytDlp } = await installedTools();
  const command = ytDlp.command.map((word) => `'${word}'`).join(' ');
  const layer = join(dir, 'opt');
  await mkdir(layer);
  await writeFile(join(layer, PROGRAM), `#!/bin/sh\nexec ${command} "$@"\n`);
  await chmod(join(layer, PROGRAM), 0o755);
  return layer;
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
    if (msg === 'Task listening') {
      child.stdout.resume();
      return { port: Number(port), close };
    }
    if (msg === 'Task failed to start') throw new Error(JSON.stringify(error));
  }
  throw new Error('The task ended');
}
