import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import {
  startWorker,
  type WorkerOptions,
  type WorkerProcess,
} from '../../packages/yt-dlp-worker/src/worker/worker-process.ts';
import { processes } from '../support/processes.ts';
import { QUICK_YT_DLP } from '../support/quick-yt-dlp.ts';
import { isAlive, startYtDlpFixture, testExtraction, until } from './yt-dlp-fixture.ts';

const fixture = await startYtDlpFixture();
const { origin, temporary, requestOf } = fixture;
const { ytDlp, pluginDirs } = fixture.options;

const start = (options: Partial<WorkerOptions> = {}) => startWorker({ ...fixture.options, ...options });
/** yt-dlp that writes its process id to `file` first. */
const writingPid = (file: string): YtDlp => ({
  ...ytDlp,
  command: ['/bin/sh', '-c', 'echo $$ >"$0"; exec "$@"', file, ...ytDlp.command],
});
const readPid = async (file: string) => Number(await readFile(file, 'utf8'));
/** A worker of the test's own, and the id of its process. */
const startOwn = async () => {
  const file = join(temporary, 'pid-of-one');
  const own = await start({ ytDlp: writingPid(file) });
  onTestFinished(own.close);
  const pid = await readPid(file);
  await rm(file);
  return { own, pid };
};
/** Ids of the child processes. */
const childrenOf = async (parent: number) =>
  (await processes()).flatMap((row) => (row.parent === parent ? [row.pid] : []));
const untilChildren = (parent: number, count: number) => until(async () => (await childrenOf(parent)).length === count);
/** Ids of the forks that have no request yet: one confines itself for it. */
const sparesOf = async (parent: number) => {
  const isSpare = async (pid: number) =>
    /^Seccomp:\t0$/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''));
  const children = await childrenOf(parent);
  const found = await Promise.all(children.map(isSpare));
  return children.filter((_, index) => found[index]);
};
let worker: WorkerProcess;
const stderr: string[] = [];
beforeAll(async () => {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-operator-test-'));
  const write = async (name: string, value: string) => {
    const file = join(dir, name);
    await writeFile(file, `# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\t${value}`);
    return file;
  };
  const cookiesFile = await write('all.txt', 'a\told\n127.0.0.1\tFALSE\t/\tFALSE\t0\tb\tkept');
  const cookiesDir = [await write('site.txt', 'a\tnew'), await write('other.txt', 'c\tthird')];
  const extractorArgs = ["reelayworkertest:tokens=it's,Two;more=1", 'youtube:skip=dash'];
  worker = await start({ onStderr: (line) => stderr.push(line), cookiesFile, cookiesDir, extractorArgs });
  await rm(dir, { recursive: true });
});
afterAll(() => worker.close());

describe('the options of the operator', () => {
  it('are the cookies of sites, and arguments that no command line shows', async () => {
    await worker.request(requestOf('/files/clip.mp4?operator'));
    const [request] = origin.requestsTo('/files/clip.mp4?operator');
    expect(request?.headers.cookie?.split('; ').sort()).toEqual(['a=new', 'b=kept', 'c=third']);
    // Other users of the machine see the command line.
    const commands = (await processes()).map(({ command }) => command).join('\n');
    expect(commands).toContain('reelay-worker:concurrency');
    expect(commands).not.toContain("tokens=it's");
  });

  it('fail the start, and leave no folder, when the cookies are gone', async () => {
    const before = await readdir(temporary);
    await expect(start({ cookiesDir: [join(temporary, 'missing.txt')] })).rejects.toThrow('ENOENT');
    expect(await readdir(temporary)).toEqual(before);
  });
});

/** proc_pid_stat(5). */
async function groupAndSession(pid: number): Promise<number[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')')).split(' ').slice(3, 5).map(Number);
}

describe('startWorker', () => {
  it.each([
    ['/trouble/403', { kind: 'http', httpStatus: 403 }],
    ['/pages/words', { kind: 'unsupported' }],
    ['/trouble/reset', { kind: expect.stringMatching(/^(network|http)$/) }],
    ['/redirects/loop', { kind: 'http' }],
    ['/inward/redirect?to=http://10.1.2.3/x.mp4', { kind: 'egress_refused' }],
    ['/site/all-drm/1', { kind: 'drm' }],
    ['/site/login/1', { kind: 'login' }],
    ['/site/geo/1', { kind: 'geo' }],
    ['/site/upcoming/1', { kind: 'upcoming' }],
    ['/site/not-live/1', { kind: 'not_live' }],
    ['/site/no-formats/1', { kind: 'no_formats' }],
    ['/site/bug/1', { kind: 'bug' }],
    ['/site/kill/1', { kind: 'crash' }],
    ['https://open.spotify.com/track/0', { kind: 'site_drm' }],
    ['mms://media.example/x', { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
    ['file:///etc/passwd', { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
    ['not a link', { kind: 'expected' }],
    ['reelay-worker:concurrency=1&memory=1', { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
    ['reelay-worker-test:worker', { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
    // By the proxy of the request: a header that names another is ignored.
    ['reelay-worker-test:other-proxy', { kind: 'egress_refused' }],
  ])('classifies the failure of %s', async (url, error) =>
    expect(await worker.request(requestOf(url))).toMatchObject({ ok: false, error }),
  );

  testExtraction(fixture, () => worker);

  it('tells what is incomplete because a request took too long', async () => {
    const impatient = (path: string) => worker.request(requestOf(`reelay-worker-test:impatient?${origin.url(path)}`));
    expect(await impatient('/trouble/silence')).toMatchObject({ ok: true, isIncomplete: true });
    const complete = await impatient('/trouble/404');
    expect(complete).toMatchObject({ ok: true });
    expect(complete).not.toHaveProperty('isIncomplete');
  });

  it('reports a cancelled request once its process has exited', async () => {
    const leaving = new AbortController();
    const { own, pid } = await startOwn();
    // At a low priority the exit may take longer than a busy worker is waited for.
    const response = own.request({ ...requestOf('/site/sleep/cancelled'), niceness: 1 }, leaving.signal);
    await untilChildren(pid, 2);
    leaving.abort();
    expect(await response).toMatchObject({ ok: false, error: { kind: 'cancelled' } });
    expect((await childrenOf(pid)).length).toBeLessThan(2);
  });

  it('keeps the fork ahead for a request of normal priority', async () => {
    const { own, pid } = await startOwn();
    await untilChildren(pid, 1);
    const [ahead] = await childrenOf(pid);
    expect(await own.request({ ...requestOf('/files/clip.mp4'), niceness: 5 })).toMatchObject({ ok: true });
    expect(await childrenOf(pid)).toContain(ahead);
    expect(await own.request(requestOf('/files/clip.mp4'))).toMatchObject({ ok: true });
    await until(async () => !(await childrenOf(pid)).includes(ahead ?? 0));
  });

  it.runIf(process.platform === 'linux')(
    'has a process group of its own within this session, whose processes share a processor by niceness',
    async () => {
      const { pid } = await startOwn();
      expect(await groupAndSession(pid)).toEqual([pid, (await groupAndSession(process.pid))[1]]);
    },
  );

  it('drops cancelled requests', async () => {
    const leaving = new AbortController();
    const response = worker.request(requestOf('/trouble/drip?cancelled'), leaving.signal);
    const request = () => origin.requestsTo('/trouble/drip?cancelled')[0]?.state;
    await until(() => request() === 'open');
    leaving.abort();
    expect(await response).toMatchObject({ ok: false, error: { kind: 'cancelled' } });
    await until(() => request() === 'left');
  });

  it('answers concurrent requests', async () => {
    const names = ['clip.mp4', 'clip.webm', 'tone.mp3', 'clip.mkv', 'tone.ogg', 'silent.mp4'];
    const answers = await Promise.all(names.map((name) => worker.request(requestOf(`/files/${name}`))));
    expect(answers.map((answer) => 'info' in answer && answer.info.webpage_url)).toEqual(
      names.map((name) => origin.url(`/files/${name}`)),
    );
  });

  it('ignores response lines that a site prints', async () => {
    expect(await worker.request(requestOf('/site/noise/1'))).toMatchObject({ ok: false, error: { message: 'noise' } });
    await until(() => stderr.includes('{"id":"forged","ok":true}'));
  });

  it('shares no state between requests', async () => {
    for (const _ of [1, 2])
      expect(await worker.request(requestOf('reelay-worker-test:remember'))).toMatchObject({ info: { view_count: 0 } });
  });
});

describe('a fork of the worker', () => {
  it.runIf(process.platform === 'linux')('has no descriptor of the worker and of other forks', async () => {
    const { own, pid } = await startOwn();
    await untilChildren(pid, 1);
    const numbersOf = async (niceness: number) => {
      const answer = await own.request(requestOf('reelay-worker-test:descriptors', { niceness }));
      const targets = new Set('info' in answer ? (answer.info.tags as string[]) : []);
      expect([...targets].filter((target) => /^(socket|anon_inode):/.test(target))).toEqual([]);
      return targets.size;
    };
    // The first one is not the one ahead, which would take a request from it.
    expect(await numbersOf(5)).toBe(await numbersOf(0));
  });

  it('has the patterns of all extractors compiled', async () => {
    const answer = await worker.request(requestOf('reelay-worker-test:patterns'));
    expect(answer).toMatchObject({ ok: true, info: { tags: [] } });
    expect(answer.ok && 'info' in answer && answer.info.view_count).toBeGreaterThan(1_000);
  });

  it('runs at the niceness of its request', async () => {
    const resolve = (niceness?: number) => worker.request(requestOf('reelay-worker-test:niceness', { niceness }));
    // This process may have one of its own.
    const own = getPriority();
    expect(await resolve()).toMatchObject({ info: { view_count: own } });
    expect(await resolve(7)).toMatchObject({ info: { view_count: Math.min(19, own + 7) } });
    for (const malformed of [-1, 20, 0.5])
      expect(await resolve(malformed)).toMatchObject({ ok: false, error: { kind: 'bug' } });
  });
});

describe('the cache of yt-dlp', () => {
  const linkOf = (host: string, given: object) =>
    `http://${host}.invalid/reelay-cache?${encodeURIComponent(JSON.stringify(given))}`;
  /** What a link finds there. */
  const load = async (host: string, given: object = {}, more: object = {}) => {
    const answer = await worker.request(requestOf(linkOf(host, given), more));
    return 'info' in answer ? JSON.parse(String(answer.info.title)) : answer;
  };

  it('keeps a value for later links of the same host and outgoing identity', async () => {
    expect(await load('one', { value: { id: 'Ä' } })).toBeNull();
    expect(await load('one')).toEqual({ id: 'Ä' });
    expect(await load('two')).toBeNull();
    expect(await load('one', {}, { identity: 'proxy' })).toBeNull();
    // By a link of another host that leads there.
    expect(await load('two', { via: linkOf('one', { value: 'other' }) })).toBeNull();
    expect(await load('one', { value: null })).toEqual({ id: 'Ä' });
    expect(await load('one')).toBeNull();
  });

  it.each([
    ['code', { section: 'challenge-solver', key: 'lib', value: 'x' }],
    ['an unknown key', { key: 'client_ids', value: 'x' }],
    ['a large value', { value: 'x'.repeat(5000) }],
  ])('keeps no %s', async (name, given) => {
    const host = name.replaceAll(' ', '-');
    expect([await load(host, given), await load(host, { ...given, value: null })]).toEqual([null, null]);
  });

  it('keeps a few values of a host', async () => {
    const key = (id: number) => ({ section: 'brightcove', key: `${id}_default` });
    for (let id = 0; id < 5; id++) await load('few', { ...key(id), value: id });
    expect([await load('few', key(0)), await load('few', key(4))]).toEqual([null, 4]);
  });

  it('has nothing of another site that a hostile link claims to be of', async () => {
    const poison = { section: 'soundcloud', key: 'client_id', value: 'poison' };
    const extractor = { extractor: 'yt_dlp.extractor.soundcloud' };
    await load('victim', { value: 'sound' });
    await load('evil', {
      forge: [poison, extractor, poison, ...Array(9).fill(extractor), [], { extractor: 1 }, 'x', poison],
    });
    expect([await load('victim'), await load('evil')]).toEqual(['sound', 'poison']);
  });
});

describe('the end of a worker process', () => {
  it('follows close, for the fork of a request and the one forked ahead, without which it answers too', async () => {
    const { own: ahead, pid } = await startOwn();
    const resolveClip = () => ahead.request(requestOf('/files/clip.mp4'));
    const infoOf = async () => {
      const response = await resolveClip();
      return 'info' in response && { ...response.info, epoch: 0 };
    };
    const expected = { id: 'clip', url: origin.url('/files/clip.mp4') };

    await untilChildren(pid, 1);
    const [spare] = await childrenOf(pid);
    expect(await infoOf()).toMatchObject(expected);
    await until(() => !isAlive(spare ?? 0));

    await untilChildren(pid, 1);
    const [next] = await childrenOf(pid);
    process.kill(next ?? expect.fail('It does not run'), 'SIGKILL');
    await untilChildren(pid, 0);
    const withoutRehearsal = await infoOf();
    expect(withoutRehearsal).toMatchObject(expected);

    await untilChildren(pid, 1);
    expect(await infoOf()).toEqual(withoutRehearsal);

    // As the alarm of its rehearsal does, on a machine so busy that its request is there by then.
    await until(async () => (await sparesOf(pid)).length === 1);
    const [rehearsing] = await sparesOf(pid);
    const late = ahead.request(requestOf('/site/sleep/late'));
    await until(async () => (await sparesOf(pid)).some((spare) => spare !== rehearsing));
    process.kill(rehearsing ?? expect.fail('It does not run'), 'SIGALRM');
    expect(await late).toMatchObject({ ok: false, error: { kind: 'crash', isInterrupted: true } });

    await untilChildren(pid, 1);
    const waiting = ahead.request(requestOf('/site/sleep/ahead'));
    await untilChildren(pid, 2);
    const forks = await childrenOf(pid);
    await ahead.close();
    expect(await waiting).toMatchObject({ ok: false, error: { kind: 'crash' } });
    expect([pid, ...forks].some(isAlive)).toBe(false);
    await ahead.close();
  });

  it('fails pending requests with crash and ends its forks', async () => {
    const { own: killed, pid } = await startOwn();
    const response = killed.request(requestOf('/site/sleep/killed'));
    await untilChildren(pid, 1);
    const forks = await childrenOf(pid);
    process.kill(pid, 'SIGKILL');
    expect(await response).toMatchObject({ ok: false, error: { kind: 'crash' } });
    await killed.ended;
    expect(await killed.request(requestOf('/files/clip.mp4'))).toMatchObject({ ok: false, error: { kind: 'crash' } });
    await until(() => !forks.some(isAlive));
  });

  it('follows the abort of its signal', async () => {
    const stopping = new AbortController();
    const stopped = await start({ ytDlp: { ...ytDlp, command: QUICK_YT_DLP }, signal: stopping.signal });
    stopping.abort();
    await stopped.ended;
  });

  it('follows the end of its parent process', async () => {
    // A killed process does not remove its files.
    const own = await mkdtemp(join(temporary, 'killed-'));
    const file = join(own, 'pid');
    const program = `
      const { startWorker } = await import(${JSON.stringify(new URL('../../packages/yt-dlp-worker/src/worker/worker-process.ts', import.meta.url).href)});
      const worker = await startWorker(${JSON.stringify({ ytDlp: writingPid(file), pluginDirs, concurrency: 1, memoryBytes: 2 ** 29 })});
      worker.request(${JSON.stringify(requestOf('/site/spin/orphan'))});
      console.log('response');`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: own },
    });
    await once(createInterface(parent.stdout), 'line');
    const pid = await readPid(file);
    await untilChildren(pid, 1);
    const forks = await childrenOf(pid);
    parent.kill('SIGKILL');
    await until(() => ![pid, ...forks].some(isAlive));
    await rm(own, { recursive: true });
  });
});

describe('startWorker rejects', () => {
  it.each<[string, [string, ...string[]], RegExp]>([
    ['does not exist', ['/nonexistent/yt-dlp'], /ENOENT/],
    ['exits at once', ['/bin/sh', '-c', 'echo "no such option" >&2; exit 2'], /no such option/],
    ['writes nothing', ['/bin/sh', '-c', ':'], /no output/],
    ['writes something else', ['/bin/sh', '-c', 'echo "{}"; echo hello; echo null'], /Not an answer/],
  ])(
    'a program that %s',
    async (_, command, message) => await expect(start({ ytDlp: { ...ytDlp, command } })).rejects.toThrow(message),
  );

  it('when the signal aborts', async () => {
    const stopping = new AbortController();
    const starting = start({
      ytDlp: { ...ytDlp, command: ['/bin/sh', '-c', 'exec sleep 600'] },
      signal: stopping.signal,
    });
    stopping.abort(new Error('stopped'));
    await expect(starting).rejects.toThrow('stopped');
    await expect(start({ signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
  });
});

describe('a worker that does not answer pings', () => {
  it('is killed before the deadline of its requests, which fail, unlike an idle one', async () => {
    const { own: stuck, pid } = await startOwn();
    process.kill(pid, 'SIGSTOP');
    const answer = await stuck.request(requestOf('/files/clip.mp4', { timeoutSeconds: 600 }));
    expect(answer).toMatchObject({ ok: false, error: { kind: 'crash' } });
    await stuck.ended;
    expect(isAlive(pid)).toBe(false);
    // It has been sent as many pings meanwhile.
    expect(await worker.request(requestOf('/files/clip.mp4'))).toMatchObject({ ok: true });
  });
});
