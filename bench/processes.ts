import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';

/** An HTTP server in a process of its own, whose CPU time and memory are measured separately. */
export interface Server {
  readonly baseUrl: string;
  readonly host: string;
  /** User and system seconds so far, children and children of children too. */
  cpuSeconds(): number;
  /** Bytes resident now, children too; pages that processes share, as forks of the worker do, count once (PSS). */
  residentBytes(): number;
  close(): Promise<void>;
}

const CLOCK_TICKS = 100; // sysconf(_SC_CLK_TCK) on Linux

/**
 * Starts a program that listens on `port` and waits until it answers. It ends with this process, however that ends.
 * @param command the program and its arguments
 * @param options `folder`: its own, removed when it has ended
 * @throws Error when it does not answer; nothing is left of it then
 */
export async function startServer(
  command: readonly string[],
  { port, env, folder }: { port: number; env?: NodeJS.ProcessEnv; folder?: string },
): Promise<Server> {
  const [program = '', ...rest] = [...UNTIL_WE_END, ...command];
  const child = spawn(program, rest, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } });
  const { pid = 0 } = child;
  const exited = new Promise<void>((resolve) => child.once('exit', resolve).once('error', () => resolve()));
  const removeFolder = () => folder && rmSync(folder, { recursive: true, force: true });
  const unregister = onExit(() => {
    child.kill('SIGTERM');
    removeFolder();
  });
  const close = async () => {
    child.kill('SIGTERM');
    await exited;
    unregister();
    removeFolder();
  };
  const baseUrl = `http://127.0.0.1:${port}`;
  try {
    await answers(baseUrl, child);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    baseUrl,
    host: `127.0.0.1:${port}`,
    cpuSeconds: () => sum(family(pid).map(({ ticks }) => ticks)) / CLOCK_TICKS,
    residentBytes: () => sum(family(pid).map((entry) => residentBytesOf(entry.pid))),
    close,
  };
}

/** Where the system can do it (Linux), a program is signalled to exit when its parent is killed. */
const UNTIL_WE_END = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'TERM', '--'] : [];

interface Tls {
  readonly port: number;
  /** Paths of PEM files. */
  readonly certificate: string;
  readonly key: string;
}

/**
 * nginx with one `server` block of our own; two workers, as many as this machine has cores.
 * @param options `tls`: serves the same by TLS too; `launcher`: a program, with its arguments, that starts nginx
 */
export async function startNginx(
  locations: string,
  { tls, launcher = [] }: { readonly tls?: Tls; readonly launcher?: readonly string[] } = {},
): Promise<Server> {
  const secure = tls
    ? `listen 127.0.0.1:${tls.port} ssl; ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};`
    : '';
  const port = await freePort();
  const dir = await mkdtemp(join(tmpdir(), 'bench-nginx-'));
  const file = join(dir, 'nginx.conf');
  await writeFile(
    file,
    `daemon off; user root; worker_processes 2; pid ${dir}/pid; error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off; sendfile on; default_type application/octet-stream;
  types { video/mp4 mp4; audio/mp4 m4a; video/webm webm; application/json json; text/html html; }
  client_body_temp_path ${dir}; proxy_temp_path ${dir}; fastcgi_temp_path ${dir}; uwsgi_temp_path ${dir}; scgi_temp_path ${dir};
  keepalive_requests 100000;
  server { listen 127.0.0.1:${port} reuseport backlog=4096; ${secure} ${locations} }
}`,
  );
  return startServer([...launcher, 'nginx', '-c', file, '-p', dir], { port, folder: dir });
}

async function answers(baseUrl: string, child: ChildProcess): Promise<void> {
  let missing: Error | undefined;
  child.once('error', (error) => {
    missing = error;
  });
  const name = child.spawnargs.join(' ');
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (missing) throw missing;
    const code = child.exitCode ?? child.signalCode;
    if (code !== null) throw new Error(`${name} ended with ${code}`);
    try {
      await (await fetch(baseUrl)).arrayBuffer();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50)); // not listening yet
    }
  }
  throw new Error(`${name} did not answer at ${baseUrl}`);
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

/** @returns the value of a field of /proc/PID/stat by its number in proc_pid_stat(5) @throws Error when the process is gone */
function readStatFields(pid: number | 'self'): (number: number) => number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // Field 3, the state, follows the name in brackets, which may contain spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (number) => Number(fields[number - 3]);
}

/** Undefined when the process is gone. */
function stat(pid: number): Stat | undefined {
  try {
    const field = readStatFields(pid);
    return { pid, parent: field(4), ticks: sum([14, 15, 16, 17].map(field)) };
  } catch {
    return undefined; // ended between the listing and the look
  }
}

function family(root: number): Stat[] {
  const all = globSync('/proc/[0-9]*')
    .map((path) => stat(Number(path.slice('/proc/'.length))))
    .filter((entry) => entry !== undefined);
  const members = new Set([root]);
  for (let before = 0; before !== members.size; ) {
    before = members.size;
    for (const { pid, parent } of all) if (members.has(parent)) members.add(pid);
  }
  return all.filter(({ pid }) => members.has(pid));
}

/** User and system seconds of the children of this process that end during `work` (proc_pid_stat(5), cutime and cstime). */
export async function endedChildrenCpuSeconds(work: () => Promise<unknown>): Promise<number> {
  const ended = () => sum([16, 17].map(readStatFields('self'))) / CLOCK_TICKS;
  const before = ended();
  await work();
  return ended() - before;
}

/** `Pss` of /proc/PID/smaps_rollup (proc_pid_smaps_rollup(5)), in kB there. */
const residentBytesOf = (pid: number): number => {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0; // ended between the listing and the look
  }
};
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Callbacks for the end of this process, called in reverse order. */
const ends = new Set<() => void>();

/** By default these end the process without `exit` event. Shells report 128 plus the signal's number. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

const onSignal = (_signal: string, number: number): never => process.exit(128 + number);
function callEnds(): void {
  for (const end of [...ends].reverse()) end();
}

/**
 * Registers synchronous work for the end of this process, also by an error or a signal.
 * @returns unregisters it
 */
export function onExit(end: () => void): () => void {
  if (ends.size === 0) watch('on');
  ends.add(end);
  return () => {
    if (ends.delete(end) && ends.size === 0) watch('off');
  };
}

/** Listens while there is work, no longer: a process that has stopped all of its children ends by signals as any other. */
function watch(change: 'on' | 'off'): void {
  process[change]('exit', callEnds);
  for (const signal of Object.keys(SIGNALS)) process[change](signal, onSignal);
}
