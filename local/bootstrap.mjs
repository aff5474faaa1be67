// Entry point of every npm script. Plain JavaScript, since the machine may have no more than any version of Node and npm.
// Installs the dependencies, the pinned Node among them, then runs the given program under that Node.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { supervise } from './supervisor.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIN = join(ROOT, 'node_modules', '.bin');
const STAMP = join(ROOT, 'node_modules', '.installed-lockfile');
/** What npm has installed: its own record, which is there once an install is complete. */
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json');
const WINDOWS = process.platform === 'win32';
/** The first version that the packages allow, as `engines` says. It runs TypeScript without a flag. */
const OLDEST_NODE = [22, 19];
/**
 * V8 flags for serving streams. Their buffers of 64 KiB are outside of the heap and are freed together with the small
 * objects that refer to them: a small young generation and a slowly growing old one free them soon. By default hundreds
 * of MB accumulate in between.
 */
const SERVING_FLAGS = JSON.parse(readFileSync(join(ROOT, 'stream-service', 'node-flags.json'), 'utf8'));
/**
 * How the allocator of glibc returns memory to the system. By default it keeps what large files and messages between processes
 * took: hundreds of MB.
 */
const SERVING_ENVIRONMENT = JSON.parse(readFileSync(join(ROOT, 'stream-service', 'node-environment.json'), 'utf8'));
/** Compiled sources for the next start. Without them the TypeScript transformer stays in memory (25 MB). */
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'node');

/** Restarted when it crashes. */
const SERVICE = 'local/main.ts';

const [program, ...args] = chooseProgram(process.argv.slice(2));
// The programs of this folder need only the packages for serving, without those for development and deployment.
const isServing = program.startsWith('local/');
await installDependencies(isServing ? 'serving' : 'everything');
supervise(chooseNode(), [...(isServing ? SERVING_FLAGS : []), join(ROOT, program), ...args], {
  restarts: program === SERVICE,
  options: {
    cwd: ROOT,
    stdio: 'inherit',
    shell: WINDOWS,
    env: {
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...(isServing && SERVING_ENVIRONMENT),
      ...process.env,
      PATH: BIN + delimiter + process.env.PATH,
      // Compared with the id of its parent, to notice the end of this process. On Windows a shell is in between.
      ...(isServing && !WINDOWS && { REELAY_SUPERVISOR_PID: String(process.pid) }),
    },
  },
});

/** Of `PROGRAM NAME=PROGRAM … -- ARGUMENTS`: the program that the first argument names, or else the first one, and what it is given. */
function chooseProgram(given) {
  const end = given.indexOf('--');
  if (end < 0) return given;
  const [usual, ...others] = given.slice(0, end);
  const [name, ...rest] = given.slice(end + 1);
  const named = others.find((other) => other.startsWith(`${name}=`));
  return named ? [named.slice(name.length + 1), ...rest] : [usual, ...given.slice(end + 1)];
}

/**
 * Runs `npm ci`, unless the packages that are needed were installed from the same lock file: by this program, which leaves a
 * stamp, or by hand.
 */
async function installDependencies(wanted) {
  const locked = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const lockfile = createHash('sha256').update(locked).digest('hex');
  const [installed, installedExtent] = existsSync(STAMP) ? readFileSync(STAMP, 'utf8').split(' ') : [];
  if (installed === lockfile && (installedExtent === 'everything' || installedExtent === wanted)) return;
  const packages = Object.entries(JSON.parse(locked).packages);
  const present = readJson(INSTALLED)?.packages ?? {};
  // The record alone does not tell: `npm install --package-lock-only` changes it without installing.
  const isPresent = ([path, { version, integrity }]) =>
    present[path]?.integrity === integrity && readJson(join(ROOT, path, 'package.json'))?.version === version;
  // The project itself is no package, and optional ones are there on some platforms.
  const needed = packages.filter(
    ([path, { optional, devOptional }]) => path.includes('node_modules') && !(optional || devOptional),
  );
  const found = needed.every(isPresent)
    ? 'everything'
    : needed.filter(([, { dev }]) => !dev).every(isPresent) && 'serving';
  if (found && (found === 'everything' || found === wanted)) writeFileSync(STAMP, `${lockfile} ${found}`);
  // Packages for development that are there are updated with the others, not removed.
  else await runNpmCi(lockfile, Object.values(present).some(({ dev }) => dev) ? 'everything' : wanted);
}

/** Undefined without the file, and for one that an interrupted install has cut. */
function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

async function runNpmCi(lockfile, extent) {
  const finish = showInstalling();
  // Set by npm; when this is run by hand, the npm on PATH is used.
  const npm = process.env.npm_execpath;
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', ...(extent === 'serving' ? ['--omit=dev'] : [])];
  const [command, before] = npm ? [process.execPath, [npm]] : ['npm', []];
  const npmCi = spawn(command, [...before, 'ci', ...flags], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: WINDOWS && !npm,
  });
  const [status, reason] = await once(npmCi, 'exit').catch((error) => [error.code, error.message]);
  finish(status === 0);
  if (status !== 0) fail(`The dependencies could not be installed${reason ? `: ${reason}` : ''}`);
  writeFileSync(STAMP, `${lockfile} ${extent}`);
}

/** Says that dependencies are being installed, on a terminal with the seconds. @returns what is called at the end */
function showInstalling() {
  const { stderr } = process;
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  const draw = (line) => stderr.write(`\r\u001b[K${line}`);
  if (!stderr.isTTY) {
    stderr.write('Installing dependencies\n');
    return () => undefined;
  }
  const show = () => draw(`Installing dependencies (npm ci), ${seconds()} s`);
  show();
  const timer = setInterval(show, 1000);
  return (isInstalled) => {
    clearInterval(timer);
    draw(isInstalled ? `Dependencies installed in ${seconds()} s\n` : '');
  };
}

/** The newer one of the pinned Node, where npm has one for this platform, and that of the system, which runs npm. */
function chooseNode() {
  const pinned = join(BIN, WINDOWS ? 'node.cmd' : 'node');
  const [node, version] = [process.env.npm_node_execpath ?? process.execPath, pinned]
    .filter((path) => existsSync(path))
    .map((path) => [path, versionOf(path)])
    .filter(([, found]) => found)
    .reduce((first, second) => (isAtLeast(first[1], second[1]) ? first : second));
  if (isAtLeast(version, OLDEST_NODE)) return node;
  return fail(
    `No pinned Node for this platform, and v${version.join('.')} is too old: ${OLDEST_NODE.join('.')} or newer is needed`,
  );
}

/** As numbers; none if it does not run here. */
function versionOf(node) {
  const { status, stdout } = spawnSync(node, ['--version'], { shell: WINDOWS, encoding: 'utf8' });
  return status === 0 ? stdout.trim().slice(1).split('.').map(Number) : undefined;
}

function isAtLeast(version, [major, minor, patch = 0]) {
  return (version[0] - major || version[1] - minor || version[2] - patch) >= 0;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
