import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { EXIT_CODES } from '../../clients/reelay-client/src/cli/run.ts';
import { useTarget } from '../contract/target.ts';
import { itWith } from '../support/clients.ts';
import { freePort } from '../support/free-port.ts';
import { NODE_ENVIRONMENT } from '../support/node-environment.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startCuttingProxy } from './cutting-proxy.ts';

const PROGRAM = resolve(import.meta.dirname, '../../clients/reelay-client/src/cli/main.ts');
const target = useTarget();
let link = '';
let bytes: Buffer;
beforeAll(async () => {
  link = target.origin.url('/files/long.mp4');
  bytes = await readFile(join(target.origin.mediaDir, 'long.mp4'));
});

/** Starts the command line in a folder. */
function start(args: readonly string[], folder: string, instance = target.baseUrl, command = process.execPath) {
  const env = { ...NODE_ENVIRONMENT, REELAY_INSTANCE: instance };
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => (output[name] += chunk));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }));
  return { child, ended };
}

const reelay = async (args: readonly string[], folder?: string, instance?: string) =>
  start([PROGRAM, ...args], folder ?? (await temporaryFolder()), instance).ended;

describe('the program', () => {
  it('downloads a link and prints the file', async () => {
    const folder = await temporaryFolder();
    expect(await reelay([link], folder)).toEqual({ code: 0, stdout: 'long.mp4\n', stderr: '8.38 MB\n' });
    expect((await readFile(join(folder, 'long.mp4'))).equals(bytes)).toBe(true);
    expect(await reelay([link, '--quiet'], folder)).toEqual({ code: 0, stdout: 'long.mp4\n', stderr: '' });
  });

  it('downloads the selected quality to the named file or folder', async () => {
    const folder = await temporaryFolder();
    const clip = target.origin.url('/files/clip.mp4');
    const args = [clip, '-q', 'mp3', '--bitrate', '128', '-o', 'sound.mp3', '--quiet'];
    expect(await reelay(args, folder)).toMatchObject({ code: 0, stdout: 'sound.mp3\n' });
    expect((await reelay([clip, '-q', 'mp3', '-o', folder, '--quiet'])).stdout).toBe(`${join(folder, 'clip.mp3')}\n`);
    expect((await readdir(folder)).toSorted()).toEqual(['clip.mp3', 'sound.mp3']);
  });

  it('writes a link to a pipe, and continues after a lost connection', async () => {
    const proxy = await startCuttingProxy(target.baseUrl, { cutsAfter: [3_000_000, 2_000_000] });
    onTestFinished(() => proxy.close());
    const folder = await temporaryFolder();
    const piped = `"$0" "$@" -o - | sha256sum; exit "\${PIPESTATUS[0]}"`;
    const args = ['-c', piped, process.execPath, PROGRAM, link, '--quiet'];
    const { code, stdout } = await start(args, folder, proxy.baseUrl, 'bash').ended;
    expect([code, proxy.cutsLeft]).toEqual([0, 0]);
    expect(stdout).toMatch(new RegExp(`^${createHash('sha256').update(bytes).digest('hex')} `));
    expect(await readdir(folder)).toEqual([]);
  });

  it('fails where the reader of its pipe ends early', async () => {
    const command = `"$0" "$@" -o - | head -c 10 >/dev/null; exit "\${PIPESTATUS[0]}"`;
    const args = ['-c', command, process.execPath, PROGRAM, link, '--quiet'];
    const { code, stderr } = await start(args, await temporaryFolder(), undefined, 'bash').ended;
    expect([code, stderr]).toEqual([
      EXIT_CODES.failed,
      expect.stringMatching(/^reelay: standard output cannot be written: the reader has ended\n/),
    ]);
  });

  it.each(['clients/reelay-client/README.md', 'docs/api.md'])(
    'keeps a folder in step by the commands of %s',
    async (document) => {
      const text = await readFile(resolve(import.meta.dirname, '../..', document), 'utf8');
      const commands = text.match(/^reelay \S+\/list -o FOLDER(?: --[\w-]+.*?)?(?=\s*(?:#|&&|$))/gm) ?? [];
      expect(commands).toContainEqual(expect.stringContaining('--strm'));
      expect(commands).toContainEqual(expect.not.stringContaining('--strm'));
      const list = target.origin.url('/site/list/documents?n=2&kind=combined');
      for (const command of commands) {
        const folder = await temporaryFolder();
        const shown = command.replace(/^reelay \S+/, `"$0" "$@" '${list}' --quiet`);
        const { code, stderr } = await start(['-c', shown, process.execPath, PROGRAM], folder, undefined, 'sh').ended;
        expect([code, stderr]).toEqual([0, '']);
        const files = await readdir(join(folder, 'FOLDER'), { recursive: true });
        const isLibrary = command.includes('--strm');
        expect(files.filter((file) => file.endsWith(isLibrary ? '.strm' : '.mp4'))).toHaveLength(2);
      }
    },
  );

  itWith('rclone')('sends a link to storage by the command in the documents', async () => {
    const api = await readFile(resolve(import.meta.dirname, '../../docs/api.md'), 'utf8');
    const [command = ''] = /^reelay .* \| rclone rcat .*$/m.exec(api) ?? [];
    const folder = await temporaryFolder();
    const shown = command
      .replace(/^reelay \S+/, `"$0" "$@" ${link} --quiet`)
      .replace(/rcat \S+/, `rcat ${join(folder, 'stored.mp4')}`);
    const { code, stderr } = await start(['-c', shown, process.execPath, PROGRAM], folder, undefined, 'sh').ended;
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('reelay:')]);
    expect((await readFile(join(folder, 'stored.mp4'))).equals(bytes)).toBe(true);
  });

  it('prints the URL of the stream', async () => {
    expect(await reelay([link, '--url', '-q', 'mp3'])).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(new RegExp(`^${target.baseUrl}/api/Stream/Media/[\\w-]+\\?format=mp3\n$`)),
    });
  });

  it('downloads a list as an archive', async () => {
    const folder = await temporaryFolder();
    const list = target.origin.url('/feeds/podcast.xml');
    const { code, stdout } = await reelay([list, '--format', 'zip', '-q', 'mp3', '--quiet'], folder);
    expect([code, stdout]).toEqual([0, 'A podcast.zip\n']);
    expect((await stat(join(folder, 'A podcast.zip'))).size).toBeGreaterThan(10_000);
    expect(await reelay([list])).toMatchObject({
      code: EXIT_CODES.usage,
      stderr: expect.stringContaining('-o FOLDER/'),
    });
  });

  it('updates a folder repeatedly with --every, despite failures of the source', async () => {
    const folder = await temporaryFolder();
    const args = ['-o', join(folder, 'pod'), '--every', '0.001'];
    const { child, ended } = start([PROGRAM, target.origin.url('/feeds/podcast.xml'), '-q', 'mp3', ...args], folder);
    let stderr = '';
    child.stderr?.on('data', (chunk) => (stderr += chunk));
    await expect.poll(() => stderr).toMatch(/^3 fetched.*\n0 fetched, 3 there already, 0 failed\n/m);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: EXIT_CODES.interrupted });

    const missing = start([PROGRAM, target.origin.url('/status/404'), ...args], folder);
    let failures = '';
    missing.child.stderr?.on('data', (chunk) => (failures += chunk));
    await expect.poll(() => failures.match(/^reelay: /gm)?.length).toBeGreaterThan(1);
    missing.child.kill('SIGTERM');
    expect(await missing.ended).toMatchObject({ code: EXIT_CODES.interrupted });
  });

  it('keeps a folder in step with a list', async () => {
    const folder = await temporaryFolder();
    const list = target.origin.url('/feeds/podcast.xml');
    const names = ['01 - Episode 1.mp3', '02 - Episode 2.mp3', '03 - Episode 3.mp3'];
    const first = await reelay([list, '-o', 'pod', '-q', 'mp3'], folder);
    expect([first.code, first.stdout]).toEqual([0, names.map((name) => `${join('pod', name)}\n`).join('')]);
    expect(await readdir(join(folder, 'pod'))).toEqual(['.reelay.json', ...names]);
    const again = await reelay([list, '-o', 'pod', '-q', 'mp3', '--delete'], folder);
    expect(again).toEqual({ code: 0, stdout: '', stderr: '0 fetched, 3 there already, 0 failed\n' });
    // With a slash, also of a list that has one item for now.
    expect(await reelay([target.origin.url('/files/clip.mp4'), '-o', 'one/', '--quiet'], folder)).toMatchObject({
      code: 0,
      stdout: `${join('one', 'clip.mp4')}\n`,
      stderr: '',
    });
    expect(await reelay([list, '-o', join('pod', names[0] ?? '')], folder)).toMatchObject({
      code: EXIT_CODES.failed,
      stderr: expect.stringContaining('it is not a folder'),
    });
  });

  it('leaves a folder on Ctrl-C, and on a disk that is full, which the same command continues', async () => {
    const proxy = await startCuttingProxy(target.baseUrl, { cutsAfter: [3_000_000], stalls: true });
    onTestFinished(() => proxy.close());
    const folder = await temporaryFolder();
    const args = [PROGRAM, link, '-o', 'long/'];
    const { child, ended } = start(args, folder, proxy.baseUrl);
    const part = join(folder, 'long', 'long.mp4.part');
    const sizeOf = async () => (await stat(part).catch(() => undefined))?.size ?? 0;
    await expect.poll(sizeOf).toBeGreaterThan(2_000_000);
    child.kill('SIGINT');
    expect(await ended).toMatchObject({
      code: EXIT_CODES.interrupted,
      stderr: expect.stringContaining('continues it'),
    });
    // Of 512 bytes: a file of 5 MB.
    const limited = ['-c', `ulimit -f 10000; exec "$0" "$@"`, process.execPath, ...args];
    const full = await start(limited, folder, undefined, 'sh').ended;
    expect([full.code, full.stderr]).toEqual([EXIT_CODES.failed, expect.stringContaining('cannot be written')]);
    expect(await sizeOf()).toBeGreaterThan(2_000_000);
    const { code, stderr } = await reelay([link, '-o', 'long/'], folder);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/8\.38 MB, [2-5]\.\d+ MB received earlier/)]);
    expect((await readFile(join(folder, 'long', 'long.mp4'))).equals(bytes)).toBe(true);
    expect(await readdir(join(folder, 'long'))).toEqual(['.reelay.json', 'long.mp4']);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'leaves a file on %s that the same command continues',
    async (signal) => {
      const proxy = await startCuttingProxy(target.baseUrl, { cutsAfter: Array(9).fill(3_000_000), stalls: true });
      onTestFinished(() => proxy.close());
      const folder = await temporaryFolder();
      const { child, ended } = start([PROGRAM, link], folder, proxy.baseUrl);
      const part = join(folder, 'long.mp4.part');
      const sizeOf = async () => (await stat(part).catch(() => undefined))?.size ?? 0;
      await expect.poll(sizeOf).toBeGreaterThan(2_000_000);
      child.kill(signal);
      const { code, stderr } = await ended;
      const isHandled = signal !== 'SIGKILL';
      expect(code).toBe(isHandled ? EXIT_CODES.interrupted : null);
      expect(stderr).toBe(isHandled ? 'Interrupted. The same command continues it.\n' : '');
      const received = await sizeOf();

      expect(await reelay([link], folder)).toMatchObject({
        code: 0,
        stdout: 'long.mp4\n',
        stderr: expect.stringMatching(/^8\.38 MB, [23]\.\d+ MB of it received earlier\n$/),
      });
      expect(received).toBeGreaterThan(2_000_000);
      expect((await readFile(join(folder, 'long.mp4'))).equals(bytes)).toBe(true);
      expect(await readdir(folder)).toEqual(['long.mp4']);
    },
  );

  it('prints where the part of a stream is that cannot be continued', async () => {
    const folder = await temporaryFolder();
    const { child, ended } = start([PROGRAM, target.origin.url('/live/index.m3u8'), '-o', 'live.mp4'], folder);
    const part = join(folder, 'live.mp4.part');
    await expect.poll(async () => (await stat(part).catch(() => undefined))?.size).toBeGreaterThan(0);
    child.kill('SIGINT');
    expect(await ended).toEqual({
      code: EXIT_CODES.interrupted,
      stdout: '',
      stderr: 'Interrupted. This stream cannot be continued; what was received is in live.mp4.part\n',
    });
  });

  itWith('script')('draws a bar on a terminal', async () => {
    const folder = await temporaryFolder();
    const command = `${process.execPath} ${PROGRAM} ${link}`;
    const { code, stdout } = await start(['-qec', command, '/dev/null'], folder, undefined, 'script').ended;
    expect(code).toBe(0);
    expect(stdout.split('\r\u001b[K')).toContainEqual(
      expect.stringMatching(/^\[[#-]{24}\] {2,}\d+ % {2}\S+ k?M?B of 8\.38 MB/),
    );
    expect(stdout.replaceAll('\r', '')).toMatch(/8\.38 MB\nlong\.mp4\n$/);
  });
});

describe('a failure of the program', () => {
  it.each([
    ['of the command line', ['nonsense'], EXIT_CODES.usage, 'nonsense is not an http or https URL'],
    ['of a parameter', ['LINK', '--bitrate', '5'], EXIT_CODES.refused, 'bitrate'],
    [
      'of a file that is there',
      ['LINK', '-o', PROGRAM],
      EXIT_CODES.failed,
      '--force replaces it, -o FILE names another',
    ],
  ])('%s says why', async (_, args, code, message) => {
    const all = args.map((argument) => argument.replace('LINK', link));
    const result = await reelay(all);
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).toMatch(/^reelay: .*\n/);
    expect(result.stderr).toContain(message);
  });

  it('of a link that is protected is permanent', async () => {
    expect(await reelay([target.origin.url('/site/drm/x')])).toMatchObject({
      code: EXIT_CODES.refused,
      stdout: '',
      stderr: expect.stringMatching(/^reelay: .+[^.]\n$/),
    });
  });

  it.each([
    ['a file', []],
    ['a folder', ['-o', 'list/']],
  ])('of an instance that is not there ends at once, and says what to do, for %s', async (_, args) => {
    const result = await reelay([link, ...args], await temporaryFolder(), `http://127.0.0.1:${await freePort()}`);
    expect(result).toMatchObject({ code: EXIT_CODES.temporary, stdout: '' });
    expect(result.stderr).toMatch(
      /^reelay: http:\/\/127\.0\.0\.1:\d+ does not respond \(ECONNREFUSED\); npm start starts one, --instance or REELAY_INSTANCE names another\n$/,
    );
  });

  it('prints its options and its version', async () => {
    expect(await reelay(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('--quality QUALITY') });
    expect(await reelay(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});
