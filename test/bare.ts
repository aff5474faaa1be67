/**
 * `npm run test:bare`: `npm test` of the last commit where a newcomer stands, on a machine with Node, npm, Python 3 and git alone.
 * It runs in a clone of its own, as an ordinary user when this is started as root, with an empty home, and without the programs
 * that tests drive. Arguments are those of `npm test`.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { CHROMIUM, findOnPath } from './support/on-path.ts';
import { PROGRAMS } from './support/programs.ts';

const run = promisify(execFile);
const CHECKOUT = resolve(import.meta.dirname, '..');
/** Folders of programs of the base system, without those of users. */
const SYSTEM_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];
/** With a blank, words that logs hide, and characters that shells and URLs encode. Vite and its plug-ins refuse `#` and `%`. */
const UNUSUAL_NAME = "a user's secret token (é)";
/** Variables of package clients, certificates and proxies. Others of npm name folders of the user who started this. */
const KEPT_VARIABLES =
  /^(?:pip_.*|npm_config_(?:.*registry|.*proxy|cafile|strict_ssl)|\w*(?:ca_certs|ca_bundle|cert_file|cert_dir|cainfo)|(?:https?|all|no)_proxy)$/i;
/** The user without rights that each Unix has. */
const NOBODY = 65534;
const IS_ROOT = process.getuid?.() === 0;

const scratch = await mkdtemp(join(tmpdir(), 'reelay-bare-'));
const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort());
try {
  process.exitCode = await testAsNewcomer();
} finally {
  await rm(scratch, { recursive: true, force: true });
}

/** @returns the exit code of `npm test` */
async function testAsNewcomer(): Promise<number> {
  const [bin, home, clone] = [join(scratch, 'bin'), join(scratch, 'home'), join(scratch, UNUSUAL_NAME)];
  for (const folder of [bin, home]) await mkdir(folder);
  const hidden = await linkPrograms(bin);
  // A hard link has one owner in both.
  await run('git', ['clone', '--quiet', '--no-hardlinks', CHECKOUT, clone]);
  const command = ['npm', 'test', '--', ...process.argv.slice(2)];
  if (IS_ROOT) {
    await run('chown', ['--recursive', `${NOBODY}:${NOBODY}`, scratch]);
    await chmod(scratch, 0o755);
    command.unshift(...(await asNobodyWithout(hidden)));
  }
  const [program = '', ...args] = command;
  const kept = Object.entries(process.env).filter(([name]) => KEPT_VARIABLES.test(name));
  const child = spawn(program, args, {
    cwd: clone,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...Object.fromEntries(kept), HOME: home, PATH: bin },
    signal: ending.signal,
    // unshare ignores SIGTERM.
    killSignal: IS_ROOT ? 'SIGKILL' : 'SIGTERM',
  });
  const [code] = await once(child, 'exit').catch(() => []);
  return code ?? 1;
}

/**
 * Links to the programs of the base system, and to Node and npm wherever they are.
 * @returns paths of the programs that are left out
 */
async function linkPrograms(bin: string): Promise<string[]> {
  const left = new Set([...Object.keys(PROGRAMS), ...CHROMIUM]);
  const hidden: string[] = [];
  const linked = new Set<string>();
  const add = async (name: string, path: string) => {
    if (!linked.has(name)) await symlink(path, join(bin, name));
    linked.add(name);
  };
  for (const folder of SYSTEM_FOLDERS)
    for (const name of await readdir(folder).catch(() => []))
      if (left.has(name)) hidden.push(join(folder, name));
      else await add(name, join(folder, name));
  const { npm_node_execpath: node = findOnPath('node') ?? process.execPath, npm_execpath: npm } = process.env;
  await add('node', node);
  if (npm) await add('npm', npm);
  return hidden;
}

/**
 * What runs a command as a user without rights, in a session of its own, and ends all that it leaves running. A mount namespace hides
 * the programs behind an empty file: for a process without a PATH the C library looks in folders of its own.
 */
async function asNobodyWithout(programs: readonly string[]): Promise<string[]> {
  const paths = new Set(await Promise.all(programs.map((path) => realpath(path).catch(() => '/dev/null'))));
  const hide = [...paths].map((path) => `mount --bind /dev/null ${path}`);
  // Without `exec`: the shell, as the first process of the namespace, takes care of processes whose parents have ended.
  const become = `setsid --wait setpriv --reuid=${NOBODY} --regid=${NOBODY} --clear-groups "$@"`;
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  return [findOnPath('unshare') ?? 'unshare', ...namespaces, 'sh', '-c', [...hide, become].join(' && '), 'sh'];
}
