import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../test/support/free-port.ts';
import { installedTools } from '../test/support/installed-tools.ts';
import { isThere } from '../test/support/on-path.ts';
import { installPythonPackages } from '../test/support/python-packages.ts';
import type { BenchOrigin } from './origin.ts';
import { type Server, startNginx, startServer } from './processes.ts';

/** Folder of the extractor for the sites of the bench's origin. */
export const PLUGIN_DIR = resolve(import.meta.dirname, '../test/origin/plugin');

/** A server that passes files of the origin through. */
interface RivalKind {
  readonly title: string;
  /** The program that has to be installed. Python packages are installed at the first run. */
  readonly program?: string;
  start(origin: BenchOrigin): Promise<Server>;
  /** Path of a file of the origin, whose path there is given. @default the same path */
  pathOf?(path: string, origin: BenchOrigin): string;
}

/** None of them continues a download that its source interrupts. */
const RIVALS = {
  nginx: { title: 'nginx, 256 KiB buffers', program: 'nginx', start: startNginxProxy },
  haproxy: { title: 'HAProxy, splicing', program: 'haproxy', start: startHaproxy },
  rclone: { title: 'rclone serve http', program: 'rclone', start: startRclone },
  mediaflow: {
    title: 'mediaflow-proxy',
    start: startMediaflow,
    pathOf: (path, { baseUrl }) => `/proxy/stream?${new URLSearchParams({ d: baseUrl + path })}`,
  },
} as const satisfies Record<string, RivalKind>;

export type RivalName = keyof typeof RIVALS;

export interface Rival extends Server {
  readonly title: string;
  /** Where it serves a file of the origin, whose path there is given. nginx and HAProxy fetch those below `/secure/` by TLS. */
  urlOf(path: string): string;
}

/** @returns undefined where this machine cannot run it; a line on the terminal gives the reason */
export async function startRival(name: RivalName, origin: BenchOrigin): Promise<Rival | undefined> {
  const { title, program, start, pathOf = (path) => path }: RivalKind = RIVALS[name];
  try {
    if (program && !isThere(program)) throw new Error(`${program} is not installed`);
    const server = await start(origin);
    return { ...server, title, urlOf: (path) => server.baseUrl + pathOf(path, origin) };
  } catch (error) {
    process.stderr.write(`Without ${title}: ${error instanceof Error ? error.message : error}\n`);
    return undefined;
  }
}

/** nginx `proxy_pass` to the origin, below `/secure/` by TLS, with 256 KiB buffers and no temporary files. */
function startNginxProxy({ baseUrl, secure }: BenchOrigin): Promise<Server> {
  const options = `proxy_buffering on; proxy_buffer_size 256k; proxy_buffers 16 256k; proxy_busy_buffers_size 512k;
      proxy_max_temp_file_size 0; proxy_http_version 1.1; proxy_set_header Connection "";`;
  return startNginx(`
      location / { proxy_pass ${baseUrl}; ${options} }
      location /secure/ { proxy_pass ${secure.baseUrl}/; ${options} }`);
}

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
  return startServer(['haproxy', '-db', '-f', file], { port, folder });
}

/** rclone finds files by the list of their folder. */
async function startRclone({ baseUrl }: BenchOrigin): Promise<Server> {
  const port = await freePort();
  const args = ['serve', 'http', ':http:', '--http-url', baseUrl, '--addr', `127.0.0.1:${port}`, '--config', ''];
  return startServer(['rclone', ...args], { port });
}

/** Its own command listens on all addresses; this server is the one that the command uses. */
async function startMediaflow(): Promise<Server> {
  const port = await freePort();
  const python = await installPythonPackages('mediaflow-proxy', 'mediaflow-proxy==2.4.9');
  const args = ['-m', 'uvicorn', 'mediaflow_proxy.main:app', '--host', '127.0.0.1', '--port', String(port)];
  return startServer([python, ...args, '--no-access-log', '--log-level', 'warning'], {
    port,
    env: { LOG_LEVEL: 'ERROR' },
  });
}

/** Runs yt-dlp as a user does, with the FFmpeg of the bench. */
export async function runYtDlp(...args: readonly string[]): Promise<unknown> {
  const { ytDlp, ffmpeg } = await installedTools();
  const [program, ...before] = ytDlp.command;
  const common = ['--ignore-config', '--plugin-dirs', PLUGIN_DIR, '--ffmpeg-location', ffmpeg.path];
  return promisify(execFile)(program, [...before, ...common, ...args], { maxBuffer: 1e8 });
}

/** Runs the FFmpeg that the service runs, and overwrites its output. */
export async function runFfmpeg(...args: readonly string[]): Promise<unknown> {
  const { ffmpeg } = await installedTools();
  return promisify(execFile)(ffmpeg.path, ['-nostdin', '-v', 'error', '-y', ...args], { maxBuffer: 1e8 });
}
