import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { readdir, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { availableMemoryBytes, memoryShares, type Settings } from '../../core/config/index.ts';
import { isDiskNearlyFull } from '../../core/state/sqlite/index.ts';
import { listen } from '../process/index.ts';
import { type Finding, findingsOn } from './finding.ts';

/** Below this, bounds shrink so far that an instance resolves one link at a time. */
const MIN_MEMORY_BYTES = 512 * 2 ** 20;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

/** The data folder and the folder of temporary files: writable, private, with free space. */
export function checkFolders({ dataDir, toolsDir }: Pick<Settings, 'dataDir' | 'toolsDir'>): Promise<Finding[]> {
  return Promise.all([
    checkFolder('Data folder', resolve(dataDir), { isPrivate: true }),
    checkFolder('Tools folder', resolve(toolsDir)),
    checkFolder('Temporary', tmpdir()),
  ]);
}

async function checkFolder(subject: string, dir: string, { isPrivate = false } = {}): Promise<Finding> {
  const { ok, warning, problem } = findingsOn(subject);
  const existing = firstExisting(dir);
  const stats = statSync(existing);
  if (!stats.isDirectory()) return problem(`${existing} is not a folder`);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch {
    return problem(`${existing} is not writable for this user: change its owner`);
  }
  if (isDiskNearlyFull(existing, 0))
    return problem(`the disk of ${dir} is nearly full: new links are answered with 503`);
  if (existing !== dir) return ok(`${dir} will be created`);
  // The service corrects this at its start, unless the folder is a shared one.
  if (isPrivate && (stats.mode & OTHERS) !== 0) return warning(`other users can read ${dir}: chmod 700`);
  const { bavail, bsize } = await statfs(dir);
  return ok(`${dir}, ${gigabytes(bavail * bsize)} GB free`);
}

const firstExisting = (path: string): string => (existsSync(path) ? path : firstExisting(dirname(path)));

export function checkMemory(bytes = availableMemoryBytes()): Finding {
  const { ok, warning } = findingsOn('Memory');
  const { forks, ffmpegs } = memoryShares();
  const text = `${gigabytes(bytes)} GB: ${forks} links and ${ffmpegs} FFmpeg processes at once`;
  return bytes < MIN_MEMORY_BYTES ? warning(`${text}; give it ${gigabytes(MIN_MEMORY_BYTES)} GB or more`) : ok(text);
}

/** Whether the service can listen, or runs already. */
export const checkPort = ({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<Finding> =>
  checkAddress('Port', { host, port, path: '/api/App', sign: '"isHealthy"', advice: 'set HOST or PORT' });

/** The same for metrics; nothing without a port for them. */
export async function checkMetricsPort({
  metricsHost: host,
  metricsPort: port,
}: Pick<Settings, 'metricsHost' | 'metricsPort'>): Promise<Finding[]> {
  if (port === undefined) return [];
  const advice = 'set METRICS_HOST or METRICS_PORT';
  return [await checkAddress('Metrics', { host, port, path: '/metrics', sign: 'reelay_info', advice })];
}

interface CheckedAddress {
  readonly host: string;
  readonly port: number;
  /** Where a running service answers with text that contains `sign`. */
  readonly path: string;
  readonly sign: string;
  readonly advice: string;
}

async function checkAddress(subject: string, { host, port, path, sign, advice }: CheckedAddress): Promise<Finding> {
  const { ok, problem } = findingsOn(subject);
  const server = createServer();
  try {
    await listen(server, { host, port });
    return ok(`${host}:${port} is free`);
  } catch (error) {
    if (await answersWith(sign, { host, port, path })) return ok(`a service runs at ${host}:${port}`);
    return problem(`${(error as Error).message}: stop what uses it, or ${advice}`);
  } finally {
    server.close();
  }
}

/** Whether an address of this machine answers with some text. */
async function answersWith(
  text: string,
  { host, port, path }: Pick<CheckedAddress, 'host' | 'port' | 'path'>,
): Promise<boolean> {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${name}:${port}${path}`, { signal: AbortSignal.timeout(5_000) });
    return (await response.text()).includes(text);
  } catch {
    return false;
  }
}

/** Plugins of yt-dlp are programs: no other user may change them. */
export async function checkPlugins({ ytDlpPlugins: dir }: Pick<Settings, 'ytDlpPlugins'>): Promise<Finding[]> {
  if (dir === undefined) return [];
  const { ok, warning } = findingsOn('Plugins');
  const names = (await readdir(dir)).sort();
  const open = [dir, ...names.map((name) => join(dir, name))].find(
    (path) => (statSync(path).mode & OTHERS_WRITE) !== 0,
  );
  if (open) return [warning(`other users can change ${open}, which runs with the rights of the service: chmod go-w`)];
  return [ok(`${dir}: ${names.join(', ')}`)];
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);

const FIELDS = 7;
const EXPIRES = 4;

/**
 * The operator's cookies: whether some are still valid, and who can read them. The file itself is valid: settings check
 * it.
 */
export function checkCookies(file: string | undefined, nowSeconds = Date.now() / 1000): Finding | undefined {
  if (file === undefined) return undefined;
  const { ok, warning, problem } = findingsOn('Cookies');
  const rows = readFileSync(file, 'utf8')
    .split(/\r?\n/)
    .map((line) => line.replace(/^#HttpOnly_/, '').split('\t'))
    .filter((fields) => fields.length === FIELDS && !fields[0]?.startsWith('#'));
  if (rows.length === 0) return problem(`${file} has no cookies: export them again`);
  // 0: until the browser is closed.
  const valid = rows.filter((fields) => Number(fields[EXPIRES]) === 0 || Number(fields[EXPIRES]) > nowSeconds);
  if (valid.length === 0) return problem(`every cookie of ${file} has expired: export them again`);
  if ((statSync(file).mode & OTHERS) !== 0) return warning(`other users can read ${file}: chmod 600`);
  return ok(`${valid.length} of ${rows.length} cookies of ${file} are valid`);
}
