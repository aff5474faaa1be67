import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { chmod, chown, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkSandbox, sandboxCommand } from '../../../stream-service/ffmpeg/sandbox.ts';
import { installedTools } from '../../support/installed-tools.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Of the system: its modules are where libraries are. */
const PYTHON = '/usr/bin/python3';
const HOSTILE = await readFile(new URL('./hostile-ffmpeg.py', import.meta.url), 'utf8');
const NOBODY = 65_534;
const { ffmpeg } = await installedTools();
const LANDLOCK_WITH_SCOPES = 6;
const isRoot = process.getuid?.() === 0;

async function listen(address: number | string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await once(server.listen(address), 'listening');
  onTestFinished(async () => {
    await once(server.close(), 'close');
  });
  return server;
}

/** Another process of that user, in place of the service. */
async function startService(uid: number): Promise<number> {
  const service = spawn(process.execPath, ['-e', 'console.log(); setInterval(Date, 1000)'], {
    uid,
    gid: uid,
    cwd: '/',
    env: { ACCESS_KEYS: 'secret' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    service.kill('SIGKILL');
    await once(service, 'exit');
  });
  await once(service.stdout, 'data');
  return service.pid ?? 0;
}

describe.runIf(process.platform === 'linux' && existsSync(PYTHON))('the sandbox of FFmpeg', () => {
  it.for([
    ['root', 0],
    ['an ordinary user', isRoot ? NOBODY : (process.getuid?.() ?? NOBODY)],
  ] as const)('keeps a program in its place to its inputs, as %s', async ([, uid], { skip }) => {
    skip(uid === 0 && !isRoot, 'the tests do not run as root');
    const sandbox = await checkSandbox(ffmpeg.path);
    skip((sandbox?.landlock ?? 0) < LANDLOCK_WITH_SCOPES, 'the kernel lacks a part of Landlock');
    expect(sandbox).toMatchObject({ seccomp: true, hasFiles: true });
    const folder = await temporaryFolder();
    const [state, socketPath] = [join(folder, 'state.db'), join(folder, 'server.sock')];
    await writeFile(state, 'secret', { mode: 0o600 });
    for (const each of [folder, state]) await chown(each, uid, uid);
    await chmod(folder, 0o777);
    const [input, other] = [await listen(0), await listen(0)];
    await listen(socketPath);
    const [{ port }, { port: otherPort }] = [input.address() as AddressInfo, other.address() as AddressInfo];
    const service = await startService(uid);

    const [program = '', ...args] = sandboxCommand(realpathSync(PYTHON), [port]);
    const given = JSON.stringify({ service, state, port, otherPort, socketPath });
    const child = spawn(program, [...args, '-I', '-S', '-c', HOSTILE, given], {
      uid,
      gid: uid,
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const outcomes: Record<string, string> = JSON.parse(await text(child.stdout));
    expect(Object.keys(outcomes).filter((name) => outcomes[name] === 'done')).toEqual(['connect to its input']);
    expect([...new Set(Object.values(outcomes))].sort()).toEqual(['EACCES', 'ENOSYS', 'EPERM', 'done']);
    const { mode, mtimeMs } = await stat(state);
    expect([await readFile(state, 'utf8'), mode & 0o777, mtimeMs > 10_000]).toEqual(['secret', 0o600, true]);
    expect((await readdir(folder)).sort()).toEqual(['server.sock', 'state.db']);
    expect(getPriority(service)).toBe(getPriority());
  });

  it('is as strict for a program in the home folder of another user, as root', async ({ skip }) => {
    skip(!isRoot, 'the tests do not run as root');
    const home = await temporaryFolder();
    const path = join(home, 'ffmpeg');
    await symlink(ffmpeg.path, path);
    await chown(home, NOBODY, NOBODY);
    expect(await checkSandbox(path)).toEqual(await checkSandbox(ffmpeg.path));
  });
});
