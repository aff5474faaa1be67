import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ResourceInformation } from '../../clients/reelay-client/src/api-types.ts';
import { readSettings, type Settings } from '../../core/config/settings.ts';
import { silentLog } from '../../core/log/index.ts';
import type { ServiceOptions } from '../../local/service/service.ts';
import { type Origin, type OriginOptions, startOrigin } from '../origin/server.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { usesSharedService } from '../support/leftovers.ts';
import { type ReceivedResponse, type RequestOptions, sendRequest } from '../support/request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type ApiDocument, createApiDocument } from './api-document.ts';
import { createPacedRequests, type Pace } from './paced-requests.ts';
import { ALLOWED_ORIGINS, PLUGIN_DIR } from './target-settings.ts';

/** The instance under test and a media origin that its egress admits. */
export interface Target {
  readonly baseUrl: string;
  readonly origin: Origin;
  readonly api: ApiDocument;
  /** Requests a path of the instance without normalization. */
  get(path: string, options?: RequestOptions): Promise<ReceivedResponse>;
  /** The path of an operation, such as `Fetch/GetDetails`, for a path of the origin. */
  pathOf(operation: string, link: string): string;
  /** The body of a path of the instance. */
  json<Body>(path: string): Promise<Body>;
  /** Resolves a link or a path of the origin. Responses are validated against the OpenAPI document. */
  resolve(link: string): Promise<Resolution>;
}

export interface Resolution {
  readonly status: number;
  readonly headers: ReceivedResponse['headers'];
  readonly resource: ResourceInformation;
  readonly problem: Problem;
}

export interface Problem {
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
}

export interface TargetOptions {
  /** Changed settings; not supported by a remote target. */
  readonly settings?: Partial<Settings>;
}

/** Whether the instance under test is remote. */
export const isRemote = process.env.REELAY_BASE_URL !== undefined;

/**
 * What `npm run verify` says of an instance that the tests have not started: its settings are unknown, and it cannot reach the
 * media origin. Only tests with this tag run against it.
 */
export const verified: (Pace & { readonly links: readonly string[] }) | undefined =
  process.env.REELAY_VERIFY && JSON.parse(process.env.REELAY_VERIFY);
export const ANY_INSTANCE = { tags: ['any-instance'] };

/** One service per worker, on free ports: starting it takes longer than many files' tests. */
// biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's dependencies from its parameter
const withService = test.extend('service', { scope: 'worker' }, async ({}, { onCleanup }) => {
  // Each file has its own origin, always at the one port that the service's egress admits.
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { baseUrl, close } = await ownService(`127.0.0.1:${(listener.address() as AddressInfo).port}`);
  onCleanup(async () => {
    await close();
    listener.close();
  });
  return { baseUrl, listener };
});

/**
 * The target of one test file, available from `beforeAll` to `afterAll`. By default the whole service in this process, which
 * the files of a worker share unless they change settings. With `REELAY_BASE_URL` it is a running instance, started with the
 * plugin, `EGRESS_ALLOW` for 127.0.0.1 at `REELAY_ORIGIN_PORT`, `CORS_ALLOWED_ORIGINS` as above and
 * `REELAY_ENVIRONMENT=Development`, unless `verified` says otherwise.
 */
export function useTarget(options: TargetOptions = {}): Target {
  let target: Awaited<ReturnType<typeof openTarget>> | undefined;
  if (isRemote)
    beforeAll(async () => {
      const origin = verified ? undefined : await startOrigin({ port: remoteOriginPort() });
      target = await openTarget(remoteUrl(), origin);
    });
  else if (options.settings)
    beforeAll(async () => {
      const origin = await startOrigin();
      const { baseUrl, close } = await ownService(origin.host, options.settings);
      target = await openTarget(baseUrl, origin, close);
    });
  else
    withService.beforeAll(async ({ service }) => {
      usesSharedService();
      target = await openTarget(service.baseUrl, await startOrigin({ listener: service.listener }));
    });
  afterAll(() => target?.close());
  const there = () => target ?? expect.fail('The target is there only while tests run');
  return {
    get baseUrl() {
      return there().baseUrl;
    },
    get origin() {
      return there().origin ?? expect.fail('The instance cannot reach an origin');
    },
    get api() {
      return there().api;
    },
    get: (path, askOptions) => there().get(path, askOptions),
    pathOf: (operation, link) =>
      `/api/${operation}?url=${encodeURIComponent(there().origin?.url(link) ?? expect.fail('It has no origin'))}`,
    json: async (path) => JSON.parse((await there().get(path)).body.toString()),
    resolve: (link) => there().resolve(link),
  };
}

async function openTarget(
  baseUrl: string,
  origin: Origin | undefined,
  closeService: () => Promise<void> = async () => undefined,
) {
  const get: Target['get'] = verified
    ? createPacedRequests(baseUrl, verified)
    : (path, options) => sendRequest(baseUrl + path, options);
  await untilAvailable(get);
  const api = createApiDocument(JSON.parse((await get('/swagger/v1/swagger.json')).body.toString()));

  return {
    baseUrl,
    origin,
    api,
    get,
    resolve: async (link: string): Promise<Resolution> => {
      const url = link.startsWith('/') ? (origin?.url(link) ?? link) : link;
      const answer = await get(`/api/Fetch/GetResource?url=${encodeURIComponent(url)}`);
      const { status, headers } = answer;
      const body = api.expectAnswer('GET', '/api/Fetch/GetResource', answer);
      return { status, headers, resource: body as ResourceInformation, problem: body as Problem };
    },
    close: async () => {
      await closeService();
      await origin?.close();
    },
  };
}

/** The port of the media origin that the instance may reach; 0 for any. */
const remoteOriginPort = (): number => Number(process.env.REELAY_ORIGIN_PORT ?? 0);

const remoteUrl = (): string => (process.env.REELAY_BASE_URL ?? '').replace(/\/$/, '');

/** Starts the service in this process, with the tools of the tests, and waits until it is available. */
export async function startOwnService(
  { host }: Pick<Origin, 'host'>,
  changes: Partial<Settings> & Pick<Settings, 'dataDir'>,
  options: Partial<ServiceOptions> = {},
) {
  // Imported here: a remote target does not need them.
  const { startService } = await import('../../local/service/service.ts');
  const { createToolsFolder } = await import('../support/tools-folder.ts');
  const settings = readSettings({
    HOST: '127.0.0.1',
    REELAY_ENVIRONMENT: 'Development',
    CORS_ALLOWED_ORIGINS: ALLOWED_ORIGINS.join(','),
    TOOLS_DIR: process.env.TOOLS_DIR ?? (await createToolsFolder(join(changes.dataDir, 'tools'))),
    TOOLS_UPDATE_HOURS: '0',
    EGRESS_ALLOW: host,
    ...(process.env.YT_DLP_PATH ? { YT_DLP_PATH: process.env.YT_DLP_PATH } : {}),
    ...(process.env.FFMPEG_PATH ? { FFMPEG_PATH: process.env.FFMPEG_PATH } : {}),
  });
  const service = await startService({
    settings: { ...settings, port: 0, ...changes },
    log: silentLog,
    pluginDirs: [PLUGIN_DIR],
    ...options,
  });
  await service.ready;
  return service;
}

/** The same without the page, with a temporary data folder and an origin of its own, until the tests of the file have ended. */
export async function openOwnService({ mounts, settings }: Pick<OriginOptions, 'mounts'> & TargetOptions) {
  const origin = closeAfterwards(await startOrigin({ mounts }));
  const changes = { dataDir: await temporaryFolder(), ...settings };
  const service = await startOwnService(origin, changes, { hasPage: false });
  return { origin, service: closeAfterwards(service) };
}

/** The service with a temporary data folder. */
async function ownService(originHost: string, changes?: Partial<Settings>) {
  const dataDir = await mkdtemp(join(tmpdir(), 'reelay-contract-'));
  const service = await startOwnService({ host: originHost }, { dataDir, ...changes });
  return {
    baseUrl: service.baseUrl,
    close: async () => {
      await service.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A new instance is in maintenance while it installs its tools. */
async function untilAvailable(get: Target['get']): Promise<void> {
  const isAvailable = async () => {
    const { isHealthy, maintenance } = JSON.parse((await get('/api/App')).body.toString());
    return isHealthy && maintenance === null;
  };
  await vi.waitUntil(isAvailable, { timeout: 110_000, interval: 100 });
}
