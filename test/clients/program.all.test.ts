import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
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
let folder = '';
beforeEach(async () => {
  folder = await temporaryFolder();
});

/** Starts a command in the folder of the test. */
function start(args: readonly string[], instance = target.baseUrl, command = process.execPath) {
  const env = { ...NODE_ENVIRONMENT, REELAY_INSTANCE: instance };
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => (output[name] += chunk));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...output }));
  return { child, ended, output };
}

const reelay = (args: readonly string[], instance?: string) => start([PROGRAM, ...args], instance).ended;
/** As `"$0" "$@"` in a command of a shell. */
const inShell = (shell: string, command: string, args: readonly string[], instance?: string) =>
  start(['-c', command, process.execPath, PROGRAM, ...args], instance, shell).ended;
const files = async (name = '') => (await readdir(join(folder, name))).toSorted();
const isSame = async (file: string) => (await readFile(join(folder, file))).equals(bytes);
const sizeOf = async (name: string) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0;

describe('the program', () => {
  it('downloads a link and prints the file', async () => {
    expect(await reelay([link])).toEqual({ code: 0, stdout: 'long.mp4\n', stderr: '8.38 MB\n' });
    expect(await isSame('long.mp4')).toBe(true);
    expect(await reelay([link, '--quiet'])).toEqual({ code: 0, stdout: 'long.mp4\n', stderr: '' });
  });

  it.each([
    ['a quality as the named file', ['-q', 'mp3', '--bitrate', '128', '-o', 'sound.mp3'], 'sound.mp3'],
    ['into a folder that is there', ['-q', 'mp3', '-o', '.'], 'clip.mp3'],
    // Of a list that has one item for now.
    ['into a folder with a slash', ['-o', 'one/'], 'one/clip.mp4'],
    ['a list as an archive', ['--format', 'zip', '-q', 'mp3'], 'A podcast.zip', '/feeds/podcast.xml'],
  ])('downloads %s', async (_, args, file, path = '/files/clip.mp4') => {
    const result = await reelay([target.origin.url(path), ...args, '--quiet']);
    expect(result).toEqual({ code: 0, stdout: `${file}\n`, stderr: '' });
    expect(await sizeOf(file)).toBeGreaterThan(10_000);
  });

  it('prints the URL of the stream', async () => {
    const { stdout, ...others } = await reelay([link, '--url', '-q', 'mp3']);
    expect(others).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^${target.baseUrl}/api/Stream/Media/[\\w-]+\\?format=mp3\n$`));
  });

  it('writes a link to a pipe, and continues after a lost connection', async () => {
    const proxy = await startCuttingProxy(target.baseUrl, { cutsAfter: [3_000_000, 2_000_000] });
    const command = `"$0" "$@" -o - | sha256sum; exit "\${PIPESTATUS[0]}"`;
    const { code, stdout } = await inShell('bash', command, [link, '--quiet'], proxy.baseUrl);
    expect([code, proxy.cutsLeft()]).toEqual([0, 0]);
    expect(stdout).toMatch(new RegExp(`^${createHash('sha256').update(bytes).digest('hex')} `));
    expect(await files()).toEqual([]);
  });

  it('fails where the reader of its pipe ends early', async () => {
    const command = `"$0" "$@" -o - | head -c 10 >/dev/null; exit "\${PIPESTATUS[0]}"`;
    const { code, stderr } = await inShell('bash', command, [link, '--quiet']);
    expect(code).toBe(EXIT_CODES.failed);
    expect(stderr).toMatch(/^reelay: http\S+: standard output cannot be written: the reader has ended\n/);
  });

  it.each([
    ['/feeds/podcast.xml', /^3 fetched.*\n0 fetched, 3 there already, 0 failed\n/m],
    [
      '/site/list/dead?n=2&dead=1&kind=small-detailed',
      /^\[1\/2\] Entry 1: not available\. The site no longer has it\n(?:.*\n)+1 fetched, 0 there already, 0 failed, 1 not available \(1: The site no longer has it\)\n/m,
    ],
    ['/status/404', /^reelay: .*\n(?:.*\n)*reelay: /],
  ])('updates a folder repeatedly with --every, despite failures of the source: %s', async (path, said) => {
    const args = ['-q', 'mp3', '-o', 'pod', '--every', '0.001'];
    const { child, ended, output } = start([PROGRAM, target.origin.url(path), ...args]);
    await expect.poll(() => output.stderr).toMatch(said);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({
      code: EXIT_CODES.interrupted,
      stderr: expect.stringMatching(/\nInterrupted\.\n$/),
    });
  });

  const SAYS = 'Interrupted. The same command continues it.\n';
  it.each<[NodeJS.Signals, string, readonly string[], number | null, string]>([
    ['SIGINT', 'long.mp4', [], EXIT_CODES.interrupted, SAYS],
    ['SIGTERM', 'long.mp4', [], EXIT_CODES.interrupted, SAYS],
    ['SIGKILL', 'long.mp4', [], null, ''],
    ['SIGINT', 'a/long.mp4', ['-o', 'a/'], EXIT_CODES.interrupted, 'continues it'],
  ])('on %s leaves a part of %s that the same command continues', async (signal, file, args, code, says) => {
    const proxy = await startCuttingProxy(target.baseUrl, { cutsAfter: Array(9).fill(3_000_000), stalls: true });
    const { child, ended } = start([PROGRAM, link, ...args], proxy.baseUrl);
    await expect.poll(() => sizeOf(`${file}.part`)).toBeGreaterThan(2_000_000);
    child.kill(signal);
    const interrupted = await ended;
    expect(interrupted.code).toBe(code);
    expect(interrupted.stderr).toContain(says);
    const again = await reelay([link, ...args]);
    expect(again).toMatchObject({ code: 0, stdout: `${file}\n` });
    expect(again.stderr).toMatch(/8\.38 MB, [23]\.\d+ MB (?:of it )?received earlier/);
    expect(await isSame(file)).toBe(true);
    const left = await files(join(file, '..'));
    expect(left.filter((name) => name !== '.reelay.json')).toEqual(['long.mp4']);
  });

  it('continues a folder after a disk that was full', async () => {
    // Of 512 bytes: a file of 5 MB.
    const full = await inShell('sh', 'ulimit -f 10000; exec "$0" "$@"', [link, '-o', 'long/']);
    expect([full.code, full.stderr]).toEqual([EXIT_CODES.failed, expect.stringContaining('cannot be written')]);
    expect(await sizeOf('long/long.mp4.part')).toBeGreaterThan(2_000_000);
    const { code, stderr } = await reelay([link, '-o', 'long/']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/8\.38 MB, [2-5]\.\d+ MB received earlier/)]);
    expect(await isSame('long/long.mp4')).toBe(true);
  });

  it('prints where the part of a stream is that cannot be continued', async () => {
    const { child, ended } = start([PROGRAM, target.origin.url('/live/index.m3u8'), '-o', 'live.mp4']);
    await expect.poll(() => sizeOf('live.mp4.part')).toBeGreaterThan(0);
    child.kill('SIGINT');
    expect(await ended).toEqual({
      code: EXIT_CODES.interrupted,
      stdout: '',
      stderr: 'Interrupted. This stream cannot be continued; what was received is in live.mp4.part\n',
    });
  });

  itWith('script')('draws a bar on a terminal', async () => {
    const command = `${process.execPath} ${PROGRAM} ${link}`;
    const { code, stdout } = await start(['-qec', command, '/dev/null'], undefined, 'script').ended;
    expect(code).toBe(0);
    expect(stdout.split('\r\u001b[K')).toContainEqual(
      expect.stringMatching(/^\[[#-]{24}\] {2,}\d+ % {2}\S+ k?M?B of 8\.38 MB/),
    );
    expect(stdout.replaceAll('\r', '')).toMatch(/8\.38 MB\nlong\.mp4\n$/);
  });

  describe('with a quality', () => {
    const several = () => target.origin.url('/site/open/qualities');
    it('names its file by what was taken, so that qualities are side by side', async () => {
      for (const quality of ['720p', 'worst', '360p', '720p'])
        expect(await reelay([several(), '-q', quality, '--quiet'])).toMatchObject({ code: 0, stderr: '' });
      expect(await files()).toEqual(
        [360, 720].map((lines) => `Ärtist Example - Größe “qualities” eins zwei (${lines}p).mp4`),
      );
    });

    it('says when nothing is as low as was asked for', async () => {
      const stderr = `reelay: ${several()}: Nothing as low as 10p: took 360p\n`;
      expect(await reelay([several(), '-q', '10p', '--url', '--quiet'])).toMatchObject({ code: 0, stderr });
    });
  });

  describe('with --json', () => {
    const eventsOf = (stdout: string) =>
      stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));

    it('prints what is fetched, and what was', async () => {
      const { code, stdout, stderr } = await reelay([link, '--json', '--quiet']);
      expect([code, stderr]).toEqual([0, '']);
      const url = expect.stringMatching(new RegExp(`^${target.baseUrl}/api/Stream/Media/`));
      const sizes = { totalBytes: bytes.length, estimatedBytes: null };
      const events = eventsOf(stdout);
      expect([events[0], ...events.slice(-2)]).toEqual([
        {
          event: 'resolved',
          link,
          type: 'Media',
          title: 'long',
          author: null,
          entries: 1,
          rendition: {
            label: expect.any(String),
            fileExtension: '.mp4',
            mimeType: 'video/mp4',
            fileSizeBytes: bytes.length,
          },
          url,
        },
        { event: 'progress', link, file: 'long.mp4', receivedBytes: bytes.length, ...sizes },
        { event: 'file', link, entry: null, file: 'long.mp4', bytes: bytes.length, resumedBytes: 0 },
      ]);
      expect(events.slice(1, -1).every(({ event }) => event === 'progress')).toBe(true);
    });

    it('prints the entries of a list', async () => {
      const list = target.origin.url('/feeds/podcast.xml');
      const { code, stdout, stderr } = await reelay([list, '-q', 'mp3', '-o', 'pod', '--json', '--quiet']);
      expect([code, stderr]).toEqual([0, '']);
      const [resolved, ...others] = eventsOf(stdout);
      expect(resolved).toEqual({
        event: 'resolved',
        link: list,
        type: 'PlayList',
        title: 'A podcast',
        author: null,
        entries: 3,
        rendition: null,
        url: null,
      });
      expect(others.filter(({ event }) => event === 'file').map(({ entry }) => entry.number)).toEqual([1, 2, 3]);
    });

    it.each([
      ['/site/drm/x', EXIT_CODES.refused, { code: 'drm', status: 415, isTemporary: false }],
      ['/feeds/podcast.xml', EXIT_CODES.usage, { code: 'usage', status: null, isTemporary: false }],
    ])('prints a failure, and says it on standard error: %s', async (path, code, facts) => {
      const failed = target.origin.url(path);
      const result = await reelay([failed, '--json']);
      const failure = {
        event: 'failure',
        link: failed,
        entry: null,
        message: expect.any(String),
        retryInSeconds: null,
      };
      expect([result.code, eventsOf(result.stdout)]).toEqual([code, [{ ...failure, ...facts }]]);
      expect(result.stderr).toMatch(/^reelay: http/);
    });
  });

  it('prints its options and its version', async () => {
    expect(await reelay(['--help'])).toMatchObject({ code: 0, stdout: expect.stringContaining('--quality QUALITY') });
    expect(await reelay(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe('a failure of the program', () => {
  const UNREACHABLE =
    /^reelay: http\S+: http:\/\/127\.0\.0\.1:\d+ does not respond: nothing listens there; npm start starts one, --instance or REELAY_INSTANCE names another\n$/;
  it.each<[string, string[], number, RegExp]>([
    ['the command line', ['nonsense'], EXIT_CODES.usage, /nonsense is not an http or https URL/],
    ['a list without a folder', ['/feeds/podcast.xml'], EXIT_CODES.usage, /-o FOLDER\//],
    ['a parameter', ['LINK', '--bitrate', '5'], EXIT_CODES.refused, /bitrate/],
    ['a link that is protected', ['/site/drm/x'], EXIT_CODES.refused, /^reelay: http\S+\/site\/drm\/x: [A-Z].+[^.]\n$/],
    ['a folder that is missing', ['LINK', '-o', 'no/a.mp4'], EXIT_CODES.failed, /: The folder no does not exist\n$/],
    ['a file that is there', ['LINK', '-o', PROGRAM], EXIT_CODES.failed, /--force replaces it, -o FILE names another/],
    ['an instance that is not there', ['LINK', '-i', 'NONE'], EXIT_CODES.temporary, UNREACHABLE],
    ['it, for a folder', ['LINK', '-i', 'NONE', '-o', 'list/'], EXIT_CODES.temporary, UNREACHABLE],
  ])('says why: %s', async (_, args, code, message) => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const all = args.map((one, at) => (at === 0 && one.startsWith('/') ? target.origin.url(one) : one));
    const result = await reelay(all.map((one) => one.replace('LINK', link).replace('NONE', nobody)));
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).toMatch(/^reelay: .*\n/);
    expect(result.stderr).toMatch(message);
  });
});
