import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import nodeEnvironment from '../stream-service/node-environment.json' with { type: 'json' };
import nodeFlags from '../stream-service/node-flags.json' with { type: 'json' };
import type { Figure } from './figures.ts';
import { makeMedia } from './media.ts';
import { onExit } from './on-exit.ts';
import { type BenchOrigin, startBenchOrigin } from './origin.ts';
import { freePort, type Server, startServer } from './processes.ts';
import { startHaproxy, startMediaflow, startNginxProxy } from './rivals.ts';

export const PLUGIN_DIR = resolve(import.meta.dirname, '../test/origin/plugin');
const DATA_DIR = resolve(import.meta.dirname, '../.data');

/** What a case can use. */
export interface Bench {
  readonly origin: BenchOrigin;
  readonly service: Server;
  /** nginx `proxy_pass` to the origin, unbuffered; below `/secure/` by TLS. */
  readonly nginx: Server;
  /** The same with 256 KiB buffers and no temporary files. */
  readonly tunedNginx: Server;
  readonly haproxy: Server;
  readonly mediaflow: Server;
  readonly barePipe: Server;
  /** Bytes of each file of `media.ts`. */
  readonly sizes: Readonly<Record<string, number>>;
  /** Resolves `/site/{name}` and gives the address of its best stream on a side. */
  stream(name: string, side?: 'video' | 'audio'): Promise<string>;
  /** Resolves a link. @throws unless it answers 200 */
  resolve(link: string): Promise<ResourceAnswer>;
  close(): Promise<void>;
}

export type Case = (bench: Bench) => AsyncIterable<Figure>;
/** Starts what it needs by itself. */
export type StandaloneCase = () => AsyncIterable<Figure>;

interface Side {
  readonly bestQualityKey: string | null;
  readonly urlType?: 'Media' | 'Combined';
}
export interface ResourceAnswer {
  readonly mediaItems: readonly { readonly video?: Side; readonly audio?: Side }[];
}

/** Starts the origin, the service and its rivals, each in its own process. @throws after closing those started */
export async function startBench(): Promise<Bench> {
  const sizes = await makeMedia();
  const started: Pick<Server, 'close'>[] = [];
  const keep = <T extends Pick<Server, 'close'>>(server: T): T => {
    started.unshift(server);
    return server;
  };
  const close = async () => {
    for (const server of started.splice(0)) await server.close();
  };
  try {
    return { ...(await startAll(keep)), sizes, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @param keep registers a server to be closed */
async function startAll(keep: <T extends Pick<Server, 'close'>>(server: T) => T) {
  const origin = keep(await startBenchOrigin());
  const data = await mkdtemp(join(tmpdir(), 'bench-data-'));
  const removeData = () => rmSync(data, { recursive: true, force: true });
  const unregister = onExit(removeData);
  keep({
    close: async () => {
      unregister();
      removeData();
    },
  });
  const nginx = keep(await startNginxProxy(origin, false));
  const tunedNginx = keep(await startNginxProxy(origin, true));
  const haproxy = keep(await startHaproxy(origin));
  const mediaflow = keep(await startMediaflow());
  const pipePort = await freePort();
  const barePipe = keep(
    await startServer(
      process.execPath,
      [resolve(import.meta.dirname, 'bare-pipe.ts'), String(pipePort), origin.baseUrl],
      { port: pipePort },
    ),
  );
  const service = keep(
    await startReelay(`${origin.host},${origin.secure.host}`, data, {
      NODE_EXTRA_CA_CERTS: origin.secure.certificate,
    }),
  );

  const resolveLink = (link: string) => resolveBy(service, link);
  return {
    origin,
    service,
    nginx,
    tunedNginx,
    haproxy,
    mediaflow,
    barePipe,
    resolve: resolveLink,
    async stream(name: string, side: 'video' | 'audio' = 'video') {
      const { mediaItems } = await resolveLink(`${origin.baseUrl}/site/${name}`);
      const { bestQualityKey, urlType } = mediaItems[0]?.[side] ?? {};
      if (!bestQualityKey) throw new Error(`${name} has no ${side}`);
      return `${service.baseUrl}/api/Stream/${urlType}/${bestQualityKey}`;
    },
  };
}

/** @throws unless the service answers 200 */
export async function resolveBy({ baseUrl }: Server, link: string): Promise<ResourceAnswer> {
  const response = await fetch(`${baseUrl}/api/Fetch/GetResource?${new URLSearchParams({ url: link })}`);
  if (!response.ok) throw new Error(`${response.status} for ${link}: ${await response.text()}`);
  return (await response.json()) as ResourceAnswer;
}

/**
 * The service in a process of its own, with its tools in place.
 * @param hosts what it may reach, `host:port`, separated by commas
 * @param data folder for its table
 */
export async function startReelay(hosts: string, data: string, env: NodeJS.ProcessEnv = {}): Promise<Server> {
  const port = await freePort();
  // As it is started to serve (local/bootstrap.mjs).
  const args = [...nodeFlags, resolve(import.meta.dirname, 'service-process.ts')];
  const service = await startServer(process.execPath, args, {
    port,
    env: {
      ...nodeEnvironment,
      NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../node_modules/.cache/node'),
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: data,
      TOOLS_DIR: join(DATA_DIR, 'tools'),
      TOOLS_UPDATE_HOURS: '0',
      EGRESS_ALLOW: hosts,
      MAX_STREAMS: '2000',
      MAX_STREAMS_PER_CLIENT: '2000',
      MAX_REQUESTS_PER_CLIENT: '0',
      ...env,
    },
  });
  try {
    await available(service);
    return service;
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** Waits until the tools are in place. */
async function available({ baseUrl }: Server): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const { isHealthy, maintenance } = (await (await fetch(`${baseUrl}/api/App`)).json()) as {
      isHealthy: boolean;
      maintenance: string | null;
    };
    if (isHealthy && maintenance === null) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('The service did not become available');
}
