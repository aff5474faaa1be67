// The first thing that runs on a machine that may have nothing but Node and npm: plain JavaScript for any Node.
// Puts the dependencies in place, the pinned Node among them, then runs the program it was given under that Node.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { supervise } from './supervisor.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BIN = join(ROOT, 'node_modules', '.bin');
const STAMP = join(ROOT, 'node_modules', '.installed-lockfile');
const WINDOWS = process.platform === 'win32';
/** Node runs TypeScript as it is from this version on. */
const OLDEST_NODE = [22, 18];
/**
 * How Node serves streams. They leave garbage outside of the heap, 64 KiB a piece, which goes with the few bytes that
 * stand for it inside: the less the young generation takes, and the less the old one grows, the sooner. By themselves
 * they leave hundreds of MB in between.
 */
const SERVING_FLAGS = JSON.parse(readFileSync(join(ROOT, 'stream-service', 'node-flags.json'), 'utf8'));
/** What Node made of the sources, for the next start: without, what makes it (25 MB) is in memory for good. */
const COMPILE_CACHE = join(ROOT, 'node_modules', '.cache', 'node');

/** Restarted when it crashes. */
const SERVICE = 'local/main.ts';

const [program, ...args] = process.argv.slice(2);
// Serving takes far less than developing and deploying: the programs of this folder do without the latter's packages.
const isServing = program.startsWith('local/');
installDependencies(isServing ? 'serving' : 'everything');
supervise(chooseNode(), [...(isServing ? SERVING_FLAGS : []), join(ROOT, program), ...args], {
  restarts: program === SERVICE,
  options: {
    cwd: ROOT,
    stdio: 'inherit',
    shell: WINDOWS,
    env: {
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...process.env,
      PATH: BIN + delimiter + process.env.PATH,
      // Compared with the id of its parent, to notice the end of this process. On Windows a shell is in between.
      ...(isServing && !WINDOWS && { REELAY_SUPERVISOR_PID: String(process.pid) }),
    },
  },
});

/** `npm ci`, unless what is in place already came from this very lock file and is enough. */
function installDependencies(extent) {
  const lockfile = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .digest('hex');
  const [installed, installedExtent] = existsSync(STAMP) ? readFileSync(STAMP, 'utf8').split(' ') : [];
  if (installed === lockfile && (installedExtent === 'everything' || installedExtent === extent)) return;
  process.stderr.write('Installing dependencies\n');
  // npm tells where it is; without it (run by hand) the one on the PATH will do.
  const npm = process.env.npm_execpath;
  const flags = ['--no-audit', '--no-fund', '--loglevel=error', ...(extent === 'serving' ? ['--omit=dev'] : [])];
  const [command, before] = npm ? [process.execPath, [npm]] : ['npm', []];
  const { status, error } = spawnSync(command, [...before, 'ci', ...flags], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: WINDOWS && !npm,
  });
  if (status !== 0) fail(`The dependencies could not be installed${error ? `: ${error.message}` : ''}`);
  writeFileSync(STAMP, `${lockfile} ${extent}`);
}

/** The pinned Node where npm has one for this platform; else this one, if it can run TypeScript. */
function chooseNode() {
  const pinned = join(BIN, WINDOWS ? 'node.cmd' : 'node');
  if (existsSync(pinned) && spawnSync(pinned, ['--version'], { shell: WINDOWS }).status === 0) return pinned;
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = OLDEST_NODE;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return process.execPath;
  return fail(
    `No pinned Node for this platform, and ${process.version} is too old: ${OLDEST_NODE.join('.')} or newer is needed`,
  );
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
