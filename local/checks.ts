import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { createTools, pythonForYtDlp, smokeTestYtDlp, type YtDlp } from '@reelay/yt-dlp-worker';
import { readSettings, SettingError, type Settings } from '../core/config/index.ts';
import { createEgress, openLoopbackProxy } from '../core/egress/index.ts';
import { messageOf } from '../core/errors/index.ts';
import { type Finding, findingsOn } from '../core/findings/index.ts';
import { isDiskNearlyFull } from '../core/state/sqlite/index.ts';
import { toToolsOptions } from './local-tools.ts';
import { isLoopback } from './process.ts';

interface DoctorOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Names in `.env` that are not settings. */
  readonly unknownVariables: readonly string[];
  /** Asked through every outgoing connection. @default https://example.com/ */
  readonly referenceUrl?: string;
}

/** Checks what an instance needs on this machine, and yields each finding as soon as it is known. Changes no setting. */
export async function* runChecks({
  environment,
  unknownVariables,
  referenceUrl,
}: DoctorOptions): AsyncGenerator<Finding> {
  const { ok, warning, problem } = findingsOn('Settings');
  let settings: Settings;
  try {
    settings = readSettings(environment);
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    yield problem(error.message);
    return;
  }
  yield unknownVariables.length > 0
    ? warning(
        `.env has ${unknownVariables.join(', ')}, which is not a setting: npm run dev -- docs settings lists them`,
      )
    : ok('valid');
  yield* await checkFolders(settings);
  yield checkExposure(settings);
  yield* await checkTools(settings);
  yield* await checkOutgoing(settings, referenceUrl);
}

const OTHERS = 0o077;

/** The data folder and the folder of temporary files: writable, private, with free space. */
function checkFolders({ dataDir, toolsDir }: Pick<Settings, 'dataDir' | 'toolsDir'>): Promise<Finding[]> {
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

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);

/** Asked once for each outgoing connection; only that it answers is used. */
const REFERENCE_URL = 'https://example.com/';
const TIMEOUT_MS = 10_000;

/** Who can reach the service. */
export function checkExposure(settings: Settings): Finding {
  const { ok, warning } = findingsOn('Exposure');
  const { host, trustedProxies } = settings;
  const isPrivate = settings.accessKeys.length + settings.accessKeysFile.length > 0;
  if (isLoopback(host)) return ok(`${host}: programs of this machine only`);
  if (isPrivate) return ok(`${host}: clients with an access key`);
  if (trustedProxies > 0) return ok(`${host}: behind ${trustedProxies} trusted proxies, which must limit rates`);
  return warning(
    `every client that reaches ${host} can use this instance: set ACCESS_KEYS, or use a proxy with rate limits`,
  );
}

/** One way out of this machine. */
interface Way {
  readonly name: string;
  readonly options: Partial<Pick<Settings, 'outgoingProxies' | 'sourceAddresses'>>;
  readonly advice: string;
}

/** Each outgoing connection: by each proxy and source address, or direct. */
async function checkOutgoing(settings: Settings, url = REFERENCE_URL): Promise<Finding[]> {
  const { ok, problem } = findingsOn('Outgoing');
  const { outgoingProxies, sourceAddresses } = settings;
  const ways: Way[] = [
    ...outgoingProxies.map((proxy, index) => ({
      name: `by outgoing proxy ${index + 1}`,
      options: { outgoingProxies: [proxy] },
      advice: 'check OUTGOING_PROXIES',
    })),
    ...sourceAddresses.map((address) => ({
      name: `from ${address}`,
      options: { sourceAddresses: [address] },
      advice: `check SOURCE_ADDRESSES, and that ${address} is of this machine: see docs/operating-one-machine.md`,
    })),
  ];
  if (ways.length === 0) ways.push({ name: 'directly', options: {}, advice: 'check DNS and the firewall' });
  const { host } = new URL(url);
  return Promise.all(
    ways.map(async ({ name, options, advice }) => {
      const error = await ask(settings, url, options);
      return error ? problem(`${host} does not answer ${name} (${error}): ${advice}`) : ok(`${host} answers ${name}`);
    }),
  );
}

/** @returns why it does not answer; undefined: it does */
async function ask({ egressAllow, extraCaFile }: Settings, url: string, options: Way['options']) {
  const egress = createEgress({ allow: egressAllow, extraCaFile, ...options });
  try {
    const identity = egress.nextIdentity();
    const { body } = await egress.request(url, { identity, signal: AbortSignal.timeout(TIMEOUT_MS) });
    body.on('error', () => undefined).destroy();
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    await egress.close();
  }
}

/** Runs the installed tools, without fetching any. */
async function checkTools(settings: Settings): Promise<Finding[]> {
  const { ok, warning, problem } = findingsOn('Tools');
  const dir = resolve(settings.toolsDir);
  if (!existsSync(dir)) return [ok(`not installed yet: the first start fetches them into ${dir}`), await checkPython()];
  const egress = createEgress({ allow: [] });
  let isInstalling = false;
  const tools = createTools({
    ...toToolsOptions(settings, { egress }),
    providers: { ytDlp: [], ffmpeg: [] },
    onActivity({ name, tool }) {
      isInstalling = tool === undefined;
      // Ends the wait, which may take minutes.
      if (isInstalling) throw new Error(name);
    },
    record: async () => undefined,
  });
  try {
    // Fails for what is missing, which is reported below.
    await tools.ensure().catch(() => undefined);
    if (isInstalling) return [warning('another process installs them: ask again when it has ended')];
    const ffmpeg = tools.ffmpeg();
    const ytDlp = tools.ytDlp();
    return [
      ffmpeg
        ? ok(`FFmpeg ${ffmpeg.version} (${ffmpeg.source})`)
        : problem(`no FFmpeg in ${dir}: run npm run update-tools`),
      ytDlp ? await checkYtDlp(ytDlp) : problem(`no yt-dlp in ${dir}: run npm run update-tools`),
    ];
  } finally {
    await tools.close();
    await egress.close();
  }
}

/** The Python that yt-dlp of PyPI needs: where the official release cannot be fetched, it comes from there. */
async function checkPython(): Promise<Finding> {
  const { ok, warning } = findingsOn('Python');
  try {
    return ok((await pythonForYtDlp()).version);
  } catch (error) {
    return warning(`${messageOf(error)}: without the official release there is no yt-dlp`);
  }
}

/** Runs the smoke test of one yt-dlp. */
async function checkYtDlp(ytDlp: YtDlp): Promise<Finding> {
  const { ok, problem } = findingsOn('Tools');
  const name = `yt-dlp ${ytDlp.version} (${ytDlp.source})`;
  try {
    const signal = AbortSignal.timeout(SMOKE_TEST_TIMEOUT_MS);
    await smokeTestYtDlp(ytDlp, { openProxy: openLoopbackProxy, signal });
    return ok(`${name} resolves a link; its JavaScript runtime is Node ${process.versions.node}`);
  } catch (error) {
    return problem(`${name} does not resolve a link (${messageOf(error)}): run npm run update-tools`);
  }
}

const SMOKE_TEST_TIMEOUT_MS = 60_000;
