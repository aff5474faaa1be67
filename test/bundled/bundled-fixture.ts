import { spawn } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { operations } from '../../core/api/operations.ts';
import { silentLog } from '../../core/log/index.ts';
import type { Handler } from '../../lambdas/http-handler.ts';
import { createGateway } from '../../local/service/gateway.ts';
import { ALLOWED_ORIGINS, PLUGIN_DIR } from '../contract/target-settings.ts';
import { Container, startContainer } from '../images/container.ts';
import { containersUnavailable } from '../images/programs.ts';
import { streamImageFrom } from '../images/stream-image.ts';
import { type FrozenYtDlp, frozenYtDlp } from '../support/frozen-yt-dlp.ts';
import { installedTools } from '../support/installed-tools.ts';
import type { BundledFunction } from './bundled-function.ts';
import { startFront } from './front.ts';
import { FROM_EDGE, type FunctionFixture, startFunctionFixture } from './function-fixture.ts';

/** The deployed bundles on this machine: each in a separate process, behind one port. */
interface BundledFixture {
  readonly baseUrl: string;
  close(): Promise<void>;
}

interface BundledFixtureOptions {
  /** `host:port` of each media origin that the instance may reach. */
  readonly originHosts: readonly string[];
}

const ROUTES: Readonly<Record<string, string>> = {
  GetAppInfo: 'api',
  GetRequestCount: 'api',
  GetResource: 'get-resource',
  GetDetails: 'get-resource',
  GetPlayback: 'get-resource',
  Get: 'get-resource',
  Feed: 'get-resource',
  ArchiveList: 'get-resource',
  Mcp: 'get-resource',
};
const FUNCTIONS = [...new Set(Object.values(ROUTES))];

export async function startBundledFixture({ originHosts }: BundledFixtureOptions): Promise<BundledFixture> {
  await using parts = new AsyncDisposableStack();
  const functionFixture = await startFunctionFixture([...FUNCTIONS, 'stream-service']);
  parts.defer(functionFixture.close);
  const { dist, functions } = functionFixture;
  const ytDlp = await frozenYtDlp();
  const common = {
    ...functionFixture.environment,
    REELAY_ENVIRONMENT: 'Development',
    CORS_ALLOWED_ORIGINS: ALLOWED_ORIGINS.join(','),
    EGRESS_ALLOW: originHosts.join(','),
    TOOLS_LAYER_DIR: ytDlp.dir,
  };
  const task = await startTask(functionFixture, common, ytDlp);
  parts.defer(() => task.end());
  await addTestExtractor(join(dist, 'functions', 'get-resource'));
  const { port } = await task.said(/^Task listening/);
  const front = await startFront(gatewayTo(functions), Number(port));
  parts.defer(front.close);
  // Behind the edge, which speaks HTTPS alone, they would write links with https.
  const ofFunctions = { ...common, PUBLIC_URL: front.baseUrl };
  for (const name of FUNCTIONS) functions.set(name, await functionFixture.start(name, ofFunctions));
  // Until then it answers 503 to streams whose link has expired.
  await task.said(/^Tool installed/, { tool: 'yt-dlp' });

  const started = parts.move();
  return { baseUrl: front.baseUrl, close: () => started.disposeAsync() };
}

const addTestExtractor = (bundleDir: string): Promise<void> =>
  cp(PLUGIN_DIR, join(bundleDir, 'plugins'), { recursive: true });

/** Starts the image of the stream service, or where this machine cannot run containers, its bundle. */
async function startTask(
  { dir, dist }: FunctionFixture,
  { TMPDIR: _, ...common }: Readonly<Record<string, string>>,
  { dir: ytDlpDir, program }: FrozenYtDlp,
): Promise<Container> {
  const bundleDir = join(dist, 'stream-service');
  const image = containersUnavailable ? undefined : await streamImageFrom(bundleDir);
  // After the image, which has no test extractor of its own.
  await addTestExtractor(bundleDir);
  const scratch = join(dir, 'scratch');
  await mkdir(join(scratch, 'yt-dlp'), { recursive: true });
  const env = { ...common, HOST: '127.0.0.1', PORT: '0', TRUSTED_PROXIES: '0', MAX_STREAMS_PER_CLIENT: '1000' };
  if (image)
    return startContainer(image, {
      env: { ...env, YT_DLP_PATH: `/scratch/yt-dlp/${basename(program)}` },
      volumes: { '/scratch': scratch },
      mounts: { '/app/plugins': join(bundleDir, 'plugins'), '/scratch/yt-dlp': ytDlpDir },
    });
  const { ffmpeg } = await installedTools();
  const ownEnv = { ...env, YT_DLP_PATH: program, FFMPEG_PATH: ffmpeg.path, DATA_DIR: scratch, TMPDIR: dir };
  const child = spawn(process.execPath, [join(bundleDir, 'main.mjs')], {
    env: ownEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Container(child);
}

function gatewayTo(functions: ReadonlyMap<string, BundledFunction>) {
  const to =
    (name: string): Handler =>
    (event) =>
      functions.get(name)?.invoke({ ...event, headers: { ...event.headers, ...FROM_EDGE } }) as ReturnType<Handler>;
  const routes = new Map(
    operations.flatMap(({ operationId, path }) => {
      const name = ROUTES[operationId];
      return name ? [[path.toLowerCase(), to(name)] as const] : [];
    }),
  );
  const other = to('api');
  const handler: Handler = (event, context) => (routes.get(event.rawPath.toLowerCase()) ?? other)(event, context);
  return createGateway({ handler, log: silentLog });
}
