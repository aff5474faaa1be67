import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { onTerminal } from '../support/on-terminal.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const folder = await temporaryFolder();
const project = join(folder, 'project');
/** The project before and after `npm ci`. */
const [bare, complete] = [join(folder, 'bare'), join(folder, 'complete')];
async function restore(state: string): Promise<void> {
  await rm(project, { recursive: true, force: true });
  await cp(state, project, { recursive: true });
}
const run = promisify(execFile);
const env = { PATH: process.env.PATH, HOME: folder, npm_config_offline: 'true', npm_config_audit: 'false' };
const npm = (...args: string[]) => run('npm', [...args, '--no-fund'], { cwd: project, env });
const bootstrap = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
  run(process.execPath, [join(project, 'local/bootstrap.mjs'), ...args], { env: { ...env, ...more } });
const start = (...args: string[]) => bootstrap(args);
/** How many packages a start has installed, without links to workspaces. */
const installedBy = async (...args: string[]): Promise<number> => {
  const { stdout, stderr } = await start(...args);
  expect(stdout).toBe('runs\n');
  return Number(/^Installing (\d+) packages with npm/.exec(stderr)?.[1] ?? (stderr === '' ? 0 : Number.NaN));
};
const installed = async () =>
  (await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.')).sort();

/** Packs a package into a file of the project, which locks it by its checksum as one of a registry. */
async function pack(name: string, version: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, 'package.json'), JSON.stringify({ name, version }));
  await npm('pack', join(folder, name), '--silent');
}

async function lock(servingVersion: string): Promise<void> {
  const dependencies = { serving: `file:serving-${servingVersion}.tgz`, own: '1.0.0' };
  const devDependencies = { developing: 'file:developing-1.0.0.tgz' };
  const manifest = { name: 'project', workspaces: ['packages/*'], dependencies, devDependencies };
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
  await npm('install', '--package-lock-only');
}

/** Packed and locked once: npm takes a second for each. */
beforeAll(async () => {
  for (const name of ['local/bootstrap.mjs', 'local/supervisor.mjs', 'node-flags.json', 'node-environment.json']) {
    const path = name.includes('/') ? name : `stream-service/${name}`;
    await cp(join(ROOT, path), join(project, path));
  }
  for (const path of ['local/serve.mjs', 'develop.mjs']) await writeFile(join(project, path), 'console.log("runs")');
  await writeFile(join(project, 'package.json'), '{}');
  await mkdir(join(project, 'packages/own'), { recursive: true });
  await writeFile(join(project, 'packages/own/package.json'), '{ "name": "own", "version": "1.0.0" }');
  await pack('serving', '1.0.0');
  await pack('serving', '2.0.0');
  await pack('developing', '1.0.0');
  await lock('1.0.0');
  await rename(project, bare);
  await cp(bare, project, { recursive: true });
  await npm('ci');
  await rename(project, complete);
});
beforeEach(() => restore(bare));

it('installs what a program needs, once', async () => {
  expect(await installedBy('local/serve.mjs')).toBe(1);
  expect(await installed()).toEqual(['own', 'serving']);
  expect(await installedBy('local/serve.mjs')).toBe(0);
  expect(await installedBy('develop.mjs')).toBe(2);
  expect(await installed()).toEqual(['developing', 'own', 'serving']);
  expect(await installedBy('local/serve.mjs')).toBe(0);
});

it.each([
  [[], 'served '],
  [['--flag', 'x'], 'served --flag,x'],
  [['develop', '--flag', 'x'], 'developed --flag,x'],
])('runs the program that the first argument names, or else the usual one (%j)', async (given, said) => {
  for (const [path, does] of [
    ['local/serve.mjs', 'served'],
    ['develop.mjs', 'developed'],
  ] as const)
    await writeFile(join(project, path), `console.log('${does} ' + process.argv.slice(2))`);
  const { stdout } = await start('local/serve.mjs', 'develop=develop.mjs', '--', ...given);
  expect(stdout).toBe(`${said}\n`);
});

it.each([
  [['ci'], 0],
  [['install'], 0],
  [['ci', '--omit=dev'], 2],
  [['install', '--omit=dev'], 2],
])('leaves alone what npm %j has installed', async (command, missing) => {
  await npm(...command);
  for (const _start of [1, 2]) expect(await installedBy('local/serve.mjs')).toBe(0);
  for (const count of [missing, 0]) expect(await installedBy('develop.mjs')).toBe(count);
});

/** A start with this program as npm. */
async function startWith(program: string) {
  const npm = join(project, 'npm.cjs');
  await writeFile(npm, program);
  return bootstrap(['local/serve.mjs'], { npm_execpath: npm });
}

it('completes an interrupted install, once', async () => {
  const serving = JSON.stringify(join(complete, 'node_modules/serving'));
  // It is ended once the first package is there.
  const interrupted = startWith(`
    require('node:fs').cpSync(${serving}, 'node_modules/serving', { recursive: true });
    process.kill(process.pid, 'SIGKILL');`);
  await expect(interrupted).rejects.toMatchObject({ code: 1, stdout: '' });
  expect(await installed()).toEqual(['serving']);
  expect(await installedBy('local/serve.mjs')).toBe(1);
  expect(await installedBy('local/serve.mjs')).toBe(0);
});

it.each(['.package-lock.json', 'serving/package.json'])('installs again where a crash has cut %s', async (file) => {
  await restore(complete);
  await writeFile(join(project, 'node_modules', file), '{"na');
  // Packages for development are there, too.
  expect(await installedBy('local/serve.mjs')).toBe(file.startsWith('serving') ? 2 : 1);
  expect(await installedBy('local/serve.mjs')).toBe(0);
});

it('updates packages for development with the others', async () => {
  await restore(complete);
  await lock('2.0.0');
  expect((await start('local/serve.mjs')).stderr).toMatch(
    /^Installing 2 packages[^\n]*\n(?:[0-2] of 2 packages, \d+ s\n)+$/,
  );
  expect(await installedBy('local/serve.mjs')).toBe(0);
  expect(await installed()).toEqual(['developing', 'own', 'serving']);
  const serving = await readFile(join(project, 'node_modules/serving/package.json'), 'utf8');
  expect(JSON.parse(serving).version).toBe('2.0.0');
});

it('shows the packages and seconds in one line on a terminal', async () => {
  const [command, ...args] = onTerminal(process.execPath, join(project, 'local/bootstrap.mjs'), 'local/serve.mjs');
  const { stdout } = await run(command, args, { env });
  const drawn = stdout.replaceAll('\r\u001b[K', 'DRAW ');
  expect(drawn).toMatch(/^Installing 1 packages.*\r\n(?:DRAW \d of 1 packages, \d+ s)+\r\nruns\r\n$/);
});

it('reports an install that fails', async () => {
  await expect(startWith('process.exit(3)')).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Installing 1 packages.*\nThe packages could not be installed\n$/s),
  });
});

it.each([
  ['an older one of the system', '22.19.0', '24.1.0', 'pinned\n'],
  ['a newer one of the system', '99.0.0', '24.1.0', 'system\n'],
  ['one of the system that is too old', '20.20.2', '24.1.0', 'pinned\n'],
  ['no pinned one', '22.19.0', undefined, 'system\n'],
])('chooses between the pinned Node and %s', async (_, system, pinned, runs) => {
  await restore(complete);
  const makeNode = async (path: string, version: string, name: string) => {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, `#!/bin/sh\n[ "$1" = --version ] && echo v${version} || echo ${name}\n`, { mode: 0o755 });
  };
  const systemNode = join(folder, 'system-node');
  await makeNode(systemNode, system, 'system');
  if (pinned) await makeNode(join(project, 'node_modules/.bin/node'), pinned, 'pinned');
  const { stdout } = await bootstrap(['local/serve.mjs'], { npm_node_execpath: systemNode });
  expect(stdout).toBe(runs);
});
