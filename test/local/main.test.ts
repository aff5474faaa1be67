import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createState } from '../../core/state/create-state.ts';
import { openSqliteStorage } from '../../core/state/sqlite/sqlite-storage.ts';
import { onTerminal } from '../support/on-terminal.ts';
import { descendantsOf } from '../support/processes.ts';
import { MAIN, useStarted } from '../support/started.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = await temporaryFolder();
const start = useStarted(folder);
/** With both of its outputs as one. */
const WITH_ERRORS = ['/bin/sh', '-c', 'exec "$0" "$1" 2>&1', process.execPath, MAIN] as const;

/** As a process would that died in the middle of an update, and whose clock was six hours ahead. */
async function leaveMaintenance(dir: string): Promise<void> {
  const storage = openSqliteStorage({ dir });
  const state = createState({ storage });
  const expiresAt = Math.floor(Date.now() / 1000) + 6 * 3600;
  expect(await state.takeMaintenance({ activity: 'Updating yt-dlp to 1', owner: 'this machine', expiresAt })).toBe(
    true,
  );
  await storage.close();
}

const run = promisify(execFile);
const versionsIn = (ready: string) => /yt-dlp (\S+) .*FFmpeg (\S+) /.exec(ready)?.slice(1);
/** The versions that the installed programs report. */
async function installedVersions(): Promise<unknown[]> {
  const [ytDlp, ffmpeg] = await Promise.all(['yt-dlp', 'ffmpeg'].map(findInstalled));
  const [program, ...args] = ytDlp.command;
  const said = await run(ffmpeg.path, ['-version'], { env: {} });
  return [
    (await run(program, [...args, '--version'], { env: {} })).stdout.trim(),
    /^ffmpeg version (\S+)/.exec(said.stdout)?.[1],
  ];
}
async function findInstalled(name: string) {
  const dir = join(folder, 'data', 'tools', name);
  const current = await readFile(join(dir, 'current'), 'utf8');
  return JSON.parse(await readFile(join(dir, current, 'tool.json'), 'utf8')).tool;
}

const json = async (url: string) => (await fetch(url)).json();

describe('npm start', () => {
  it('responds while it installs tools, becomes available, and leaves no process after SIGINT', async () => {
    const service = start({ DATA_DIR: 'data', PUBLIC_URL: 'https://reelay.example' });
    const baseUrl = await service.baseUrl();
    await service.line(/^Other devices open https:\/\/reelay\.example$/);
    expect(await json(`${baseUrl}/api/App`)).toMatchObject({
      isHealthy: false,
      maintenance: expect.stringMatching(/^(Fetching|Downloading|Installing|Checking|Looking)/),
    });
    const early = await fetch(`${baseUrl}/api/Fetch/GetResource?url=http://media.invalid/`);
    expect(early.status).toBe(503);
    expect(early.headers.get('retry-after')).toBe('5');
    expect(await early.json()).toMatchObject({ title: expect.any(String), detail: expect.any(String), status: 503 });

    const versions = versionsIn(await service.line(/^Ready: /));
    expect(versions).toEqual(await installedVersions());
    expect(service.lines.join()).toContain('Fetching FFmpeg');
    expect(await json(`${baseUrl}/api/App`)).toMatchObject({ isHealthy: true, maintenance: null });
    expect((await fetch(`${baseUrl}/api/Fetch/GetResource?url=http://media.invalid/`)).status).toBe(404);

    const children = await descendantsOf(service.process.pid ?? 0);
    expect(children.length).toBeGreaterThan(0);
    service.process.kill('SIGINT');
    expect(await service.ended).toBe(0);
    for (const { pid } of children) expect(() => process.kill(pid, 0)).toThrow();
  }, 600_000);

  it('starts without downloads the second time, ends the maintenance of a crashed process and fills NODE_COMPILE_CACHE', async () => {
    await leaveMaintenance(join(folder, 'data'));
    const compiled = join(folder, 'compiled');
    const service = start({ DATA_DIR: 'data', NODE_COMPILE_CACHE: compiled });
    await service.line(/^Other devices cannot reach it: HOST=0\.0\.0\.0 /);
    expect(versionsIn(await service.line(/^Ready: /))).toEqual(await installedVersions());
    expect(service.lines.filter((line) => /Fetching|Installing/.test(line))).toEqual([]);
    expect(await json(`${await service.baseUrl()}/api/App`)).toMatchObject({ isHealthy: true, maintenance: null });
    expect((await readdir(compiled, { recursive: true })).length).toBeGreaterThan(100);
  });

  it.each([
    ['an invalid setting', { PORT: 'eighty' }, /^PORT must be /],
    ['a tool that cannot be had', { YT_DLP_PATH: '/nowhere/yt-dlp', DATA_DIR: 'other' }, /^yt-dlp cannot be installed/],
    ['a folder that cannot be written', { DATA_DIR: 'file/data' }, /^The data folder .* cannot be used/],
  ])('reports %s in one line and exits with 1', async (_what, env, line) => {
    await writeFile(join(folder, 'file'), '');
    const service = start(env);
    expect(await service.ended).toBe(1);
    expect(service.lines.at(-1)).toMatch(line);
    expect(service.lines.filter((said) => line.test(said))).toHaveLength(1);
  });

  /** All that a start writes which fails, with these settings in `.env`. */
  async function linesOf(command: readonly [string, ...string[]], env: string) {
    await writeFile(join(folder, '.env'), env);
    const service = start({ YT_DLP_PATH: '/nowhere/yt-dlp', DATA_DIR: 'other' }, command);
    await service.ended;
    await rm(join(folder, '.env'));
    return service.lines;
  }

  it.each<[string, readonly [string, ...string[]]]>([
    ['a terminal', onTerminal(process.execPath, MAIN)],
    ['a pipe', WITH_ERRORS],
  ])('writes plain lines to %s', async (_what, command) => {
    const lines = await linesOf(command, 'POTR=1');
    const said = lines.map((line) => line.split('\u001b[K').at(-1)?.trimEnd() ?? '');
    expect(said).toContain('Warning: Variables in .env are not settings (names: POTR)');
    expect(said.filter((line) => /runs as root/.test(line))).toHaveLength(process.geteuid?.() === 0 ? 1 : 0);
    expect(said.at(-1)).toMatch(/^yt-dlp cannot be installed/);
    expect(said.filter((line) => line.startsWith('{'))).toEqual([]);
  });

  it('writes JSON lines alone with LOG_FORMAT=json', async () => {
    const said = (await linesOf(WITH_ERRORS, 'POTR=1\nLOG_FORMAT=json')).map((line) => JSON.parse(line));
    expect(said).toContainEqual(expect.objectContaining({ level: 40, msg: 'Variables in .env are not settings' }));
    expect(said.at(-1)).toMatchObject({ level: 30, msg: expect.stringMatching(/^yt-dlp cannot be installed/) });
  });
});
