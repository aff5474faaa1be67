/*
 * Entry point of every npm script: `node local/bootstrap.mjs PROGRAM`. Plain JavaScript, since the machine may have any version of
 * Node. Each part is something that npm does not do:
 * - `installPackages`: npm runs scripts without their packages. This runs `npm ci` in a new clone, and again when the lock file has
 *   changed; for the programs of `local/` without the packages for development, which are most.
 * - `showProgress`: npm says nothing while it installs.
 * - `chooseNode`: npm runs scripts with its own Node, which may be too old. The Node of Reelay is one of its packages.
 * - `chooseProgram`: `npm run dev -- demo` runs another program than `npm run dev`.
 * - `supervise`: npm does not restart the service after a crash, and does not end it when npm is ended.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { supervise } from './supervisor.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIN = join(ROOT, 'node_modules', '.bin');
const WINDOWS = process.platform === 'win32';
/** As `engines` of package.json says. It runs TypeScript without a flag. */
const OLDEST_NODE = [22, 19];
/** Programs that then fetch their tools. */
const FIRST_STARTS = ['local/main.ts', 'local/demo.ts'];

const [program, ...args] = chooseProgram(process.argv.slice(2));
const isServing = program.startsWith('local/');
await installPackages();
// Settings that return the memory of large messages and files soon; V8 and glibc would keep hundreds of MB.
const [flags, environment] = isServing
  ? [readJson('stream-service/node-flags.json'), readJson('stream-service/node-environment.json')]
  : [[], {}];
supervise(chooseNode(), [...flags, join(ROOT, program), ...args], {
  restarts: program === 'local/main.ts',
  options: {
    cwd: ROOT,
    stdio: 'inherit',
    shell: WINDOWS,
    env: {
      // Without what an earlier start has compiled, the TypeScript transformer stays in memory (25 MB).
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'node'),
      ...environment,
      ...process.env,
      PATH: BIN + delimiter + process.env.PATH,
      // Compared with the id of its parent, to notice the end of this process. On Windows a shell is in between.
      ...(isServing && !WINDOWS && { REELAY_SUPERVISOR_PID: String(process.pid) }),
    },
  },
});

/** From `PROGRAM NAME=PROGRAM … -- ARGUMENTS`: the program whose name is the first argument, by default the first one, and its arguments. */
function chooseProgram(given) {
  const end = given.indexOf('--');
  if (end < 0) return given;
  const [usual, ...others] = given.slice(0, end);
  const [name, ...rest] = given.slice(end + 1);
  const named = others.find((other) => other.startsWith(`${name}=`));
  return named ? [named.slice(name.length + 1), ...rest] : [usual, ...given.slice(end + 1)];
}

/**
 * Runs `npm ci`, unless npm's record of what it has installed has the packages of the lock file, and each is there. The record alone does
 * not tell: `npm install --package-lock-only` changes it too, and a machine that crashed may have cut the files of a package.
 */
async function installPackages() {
  const present = readJson('node_modules/.package-lock.json')?.packages ?? {};
  // Where packages for development are installed, they are updated with the others instead of being removed.
  const omitsDev = isServing && !Object.values(present).some(({ dev }) => dev);
  const needed = Object.entries(readJson('package-lock.json').packages).filter(
    ([path, { optional, devOptional, dev }]) =>
      path.includes('node_modules') && !(optional || devOptional || (dev && omitsDev)),
  );
  // The lock file has neither version nor checksum of a link to a workspace.
  const isPresent = ([path, { version, integrity, link }]) => {
    const installed = path in present && readJson(`${path}/package.json`);
    return installed && present[path].integrity === integrity && (link || installed.version === version);
  };
  if (needed.every(isPresent)) return;
  const finish = showProgress(needed.flatMap(([path, { link }]) => (link ? [] : join(ROOT, path, 'package.json'))));
  // Set by npm; when this is run by hand, the npm on PATH is used.
  const npm = process.env.npm_execpath;
  const [command, ...before] = npm ? [process.execPath, npm] : ['npm'];
  const npmCi = spawn(command, [...before, 'ci', ...(omitsDev ? ['--omit=dev'] : [])], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: WINDOWS && !npm,
  });
  const [status, reason] = await once(npmCi, 'exit').catch((error) => [error.code, error.message]);
  finish();
  if (status !== 0) fail(`The packages could not be installed${reason ? `: ${reason}` : ''}`);
}

/** Says of how many packages the files have been put in place, each second on a terminal, else at each quarter. @returns what ends it */
function showProgress(files) {
  const { stderr } = process;
  // The clock of file systems ticks some milliseconds late.
  const startedAt = Date.now() - 10;
  let quarter = 0;
  const duration = FIRST_STARTS.includes(program)
    ? 'the first start takes about a minute and a half'
    : 'usually in less than a minute';
  stderr.write(`Installing ${files.length} packages with npm: ${duration}\n`);
  const show = () => {
    // Files of an earlier install have an older time.
    const placedAt = (file) => statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? 0;
    const count = files.filter((file) => placedAt(file) >= startedAt).length;
    const line = `${count} of ${files.length} packages, ${Math.round((Date.now() - startedAt) / 1000)} s`;
    const reached = Math.floor((4 * count) / files.length);
    if (stderr.isTTY) stderr.write(`\r\u001b[K${line}`);
    else if (reached > quarter) stderr.write(`${line}\n`);
    quarter = reached;
  };
  const timer = setInterval(show, 1000);
  return () => {
    clearInterval(timer);
    show();
    if (stderr.isTTY) stderr.write('\n');
  };
}

/** The newer one of the pinned Node, where npm has one for this platform, and that of the system, which runs npm. */
function chooseNode() {
  const pinned = join(BIN, WINDOWS ? 'node.cmd' : 'node');
  const [newest] = [process.env.npm_node_execpath ?? process.execPath, pinned]
    .filter((path) => existsSync(path))
    .map((path) => ({ path, version: versionOf(path) }))
    .sort((a, b) => compare(b.version, a.version));
  if (compare(newest.version, OLDEST_NODE) >= 0) return newest.path;
  return fail(
    `No pinned Node for this platform, and v${newest.version.join('.')} is too old: ${OLDEST_NODE.join('.')} or newer is needed`,
  );
}

/** As numbers; 0 if it does not run here. */
function versionOf(node) {
  const { status, stdout } = spawnSync(node, ['--version'], { shell: WINDOWS, encoding: 'utf8' });
  return status === 0 ? stdout.trim().slice(1).split('.').map(Number) : [0];
}

function compare([major, minor = 0, patch = 0], [otherMajor, otherMinor = 0, otherPatch = 0]) {
  return major - otherMajor || minor - otherMinor || patch - otherPatch;
}

/** Undefined without the file, and for one that an interrupted install has cut. */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
  } catch {
    return undefined;
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
