import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import nodeEnvironment from '../stream-service/node-environment.json' with { type: 'json' };
import nodeFlags from '../stream-service/node-flags.json' with { type: 'json' };
import { freePort } from '../test/support/free-port.ts';
import { installPythonPackages } from '../test/support/python-packages.ts';
import { type ResourceAnswer, resolveLink, streamOf } from './clients.ts';
import type { Figure } from './figures.ts';
import { makeMedia } from './media.ts';
import { type BenchOrigin, startBenchOrigin } from './origin.ts';
import { type Server, startNginx, startServer } from './processes.ts';

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
  /** Resolves `/site/{name}` and gives the address of its best stream. */
  stream(name: string): Promise<string>;
  resolve(link: string): Promise<ResourceAnswer>;
  close(): Promise<void>;
}

export type Case = (bench: Bench) => AsyncIterable<Figure>;
/** Starts what it needs by itself. */
export type StandaloneCase = () => AsyncIterable<Figure>;

/** Starts the origin, the service and its rivals, each in its own process. @throws after closing those started */
export async function startBench(): Promise<Bench> {
  const sizes = await makeMedia();
  await using started = new AsyncDisposableStack();
  const parts = await startAll(keptIn(started));
  const running = started.move();
  return { ...parts, sizes, close: () => running.disposeAsync() };
}

/** Registers servers to be closed, the last one first. */
export const keptIn =
  (stack: AsyncDisposableStack) =>
  <T extends Pick<Server, 'close'>>(server: T): T => {
    stack.defer(server.close);
    return server;
  };

/** @param keep registers a server to be closed */
async function startAll(keep: ReturnType<typeof keptIn>) {
  const origin = keep(await startBenchOrigin());
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
  const env = { NODE_EXTRA_CA_CERTS: origin.secure.certificate };
  const service = keep(await startReelay(`${origin.host},${origin.secure.host}`, env));
  return {
    origin,
    service,
    nginx,
    tunedNginx,
    haproxy,
    mediaflow,
    barePipe,
    resolve: (link: string) => resolveLink(service, link),
    stream: (name: string) => streamOf(service, `${origin.baseUrl}/site/${name}`),
  };
}

/** The service under measurement, and the folder of its table. */
export interface Reelay extends Server {
  readonly dataDir: string;
}

/**
 * The service in a process of its own, with its tools in place.
 * @param hosts what it may reach, `host:port`, separated by commas
 */
export async function startReelay(hosts: string, env: NodeJS.ProcessEnv = {}): Promise<Reelay> {
  const port = await freePort();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-data-'));
  // As it is started to serve (local/bootstrap.mjs).
  const args = [...nodeFlags, resolve(import.meta.dirname, 'service-process.ts')];
  const service = await startServer(process.execPath, args, {
    port,
    folder: dataDir,
    env: {
      ...nodeEnvironment,
      NODE_COMPILE_CACHE: resolve(import.meta.dirname, '../node_modules/.cache/node'),
      PORT: String(port),
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
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
    return { ...service, dataDir };
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
    await sleep(200);
  }
  throw new Error('The service did not become available');
}

const KEEP_ALIVE = 'proxy_http_version 1.1; proxy_set_header Connection "";';
const UNBUFFERED = `proxy_buffering off; ${KEEP_ALIVE}`;
const BUFFERED = `proxy_buffering on; proxy_buffer_size 256k; proxy_buffers 16 256k; proxy_busy_buffers_size 512k;
  proxy_max_temp_file_size 0; ${KEEP_ALIVE}`;

/** nginx `proxy_pass` to the origin, below `/secure/` by TLS. `isTuned`: with 256 KiB buffers and no temporary files. */
const startNginxProxy = ({ baseUrl, secure }: BenchOrigin, isTuned: boolean): Promise<Server> => {
  const options = isTuned ? BUFFERED : UNBUFFERED;
  return startNginx(`
      location / { proxy_pass ${baseUrl}; ${options} }
      location /secure/ { proxy_pass ${secure.baseUrl}/; ${options} }`);
};

/** HAProxy to the origin, below `/secure/` by TLS, with 256 KiB buffers, splicing, and a thread per core. */
async function startHaproxy({ host, secure }: BenchOrigin): Promise<Server> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'bench-haproxy-'));
  const file = join(folder, 'haproxy.cfg');
  await writeFile(
    file,
    `global
  nbthread 2
  maxconn 4096
  tune.bufsize 262144
defaults
  mode http
  option splice-auto
  timeout connect 10s
  timeout client 60s
  timeout server 60s
frontend bench
  bind 127.0.0.1:${port}
  use_backend secure if { path_beg /secure/ }
  default_backend plain
backend plain
  server origin ${host}
backend secure
  http-request replace-path /secure(/.*) \\1
  server origin ${secure.host} ssl verify none
`,
  );
  return startServer('haproxy', ['-db', '-f', file], { port, folder });
}

/** What a user would take instead. pip installs it at the first run. Its own command listens on all addresses; this server is the one it uses. */
async function startMediaflow(): Promise<Server> {
  const port = await freePort();
  const python = await installPythonPackages('mediaflow-proxy', 'mediaflow-proxy==2.4.9');
  const args = ['-m', 'uvicorn', 'mediaflow_proxy.main:app', '--host', '127.0.0.1', '--port', String(port)];
  return startServer(python, [...args, '--no-access-log'], { port, env: { LOG_LEVEL: 'ERROR' } });
}
