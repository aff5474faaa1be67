import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import type { YtDlp } from '../../../layers/tools/tools.ts';
import { startWorker, type WorkerOptions, type WorkerProcess } from '../../../layers/tools/worker/worker-process.ts';
import { startOrigin } from '../../origin/server.ts';
import { installedTools } from '../../support/installed-tools.ts';

/** The real yt-dlp as a worker, through the real egress, against the origin. */
const { ytDlp } = await installedTools();
const origin = await startOrigin();
const egress = createEgress({ allow: [origin.host] });
const lease = await egress.openProxySession({});
const temporary = await mkdtemp(join(tmpdir(), 'reelay-worker-test-'));
const pluginDirs = ['../../origin/plugin', './plugin'].map((dir) => fileURLToPath(new URL(dir, import.meta.url)));
const systemTemporary = process.env.TMPDIR;

const start = (options: Partial<WorkerOptions> = {}) =>
  startWorker({ ytDlp, pluginDirs, concurrency: 2, memoryBytes: 2 ** 29, ...options });
const question = (url: string, more: object = {}) => ({
  ...{ url: url.startsWith('/') ? origin.url(url) : url, timeoutSeconds: 30, proxy: lease.proxyUrl },
  ...{ flat: true, playlistLimit: 10, ...more },
});
/** A yt-dlp that writes its process id to a file before it starts. */
const known = (file: string): YtDlp => ({
  ...ytDlp,
  command: ['/bin/sh', '-c', 'echo $$ >"$0"; exec "$@"', file, ...ytDlp.command],
});
const pidIn = async (file: string) => Number(await readFile(file, 'utf8'));
/** Processes that this one started. */
const childrenOf = async (pid: number) => {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const pairs = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([child, parent]) => (child !== undefined && parent === pid ? [child] : []));
};
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
};
const until = (condition: () => unknown) => expect.poll(condition, { interval: 10, timeout: 10_000 }).toBe(true);

let worker: WorkerProcess;
const stderr: string[] = [];
beforeAll(async () => {
  process.env.TMPDIR = temporary;
  worker = await start({ onStderr: (line) => stderr.push(line) });
});
afterAll(async () => {
  await worker.close();
  expect(await readdir(temporary)).toEqual([]);
  if (systemTemporary === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = systemTemporary;
  lease.close();
  await egress.close();
  await origin.close();
  await rm(temporary, { recursive: true, force: true });
});

describe('a worker', () => {
  it('resolves a direct file', async () =>
    expect(await worker.request(question('/files/clip.mp4'))).toMatchObject({
      ok: true,
      info: { id: 'clip', direct: true, formats: [{ url: origin.url('/files/clip.mp4') }] },
    }));

  it.each([
    ['/trouble/404', { kind: 'http', httpStatus: 404 }],
    ['/trouble/403', { kind: 'http', httpStatus: 403 }],
    ['/pages/words', { kind: 'unsupported' }],
    ['/trouble/reset', { kind: expect.stringMatching(/^(network|http)$/) }],
    ['/redirects/loop', { kind: 'http' }],
    ['/inward/redirect?to=http://10.1.2.3/x.mp4', { kind: 'egress_refused' }],
    ['/site/drm/1', { kind: 'drm', extractor: 'ReelayTest', expected: true }],
    ['/site/all-drm/1', { kind: 'drm' }],
    ['/site/login/1', { kind: 'login' }],
    ['/site/geo/1', { kind: 'geo' }],
    ['/site/upcoming/1', { kind: 'upcoming' }],
    ['/site/not-live/1', { kind: 'not_live' }],
    ['/site/no-formats/1', { kind: 'no_formats' }],
    ['/site/private/1', { kind: 'expected', message: expect.stringMatching(/private/i) }],
    ['/site/bug/1', { kind: 'bug' }],
    ['/site/memory/1', { kind: 'memory' }],
    ['/site/exit/1', { kind: 'crash' }],
    ['/site/kill/1', { kind: 'crash' }],
    ['https://open.spotify.com/track/0', { kind: 'site_drm' }],
    ['mms://media.example/x', { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
    ['file:///etc/passwd', { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
    ['not a link', { kind: 'expected' }],
    ['reelay-worker:concurrency=1&memory=1', { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
    ['reelay-worker-test:worker', { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
    // By its own proxy: a header that names another is not obeyed.
    ['reelay-worker-test:other-proxy', { kind: 'egress_refused' }],
    ['reelay-worker-test:large', { kind: 'too_large' }],
  ])('answers %s with a failure of its kind', async (url, error) =>
    expect(await worker.request(question(url))).toMatchObject({ ok: false, error }),
  );

  it('lists a playlist up to the limit, without resolving its entries', async () => {
    const answer = await worker.request(question('/site/list/limits?n=6', { playlistLimit: 3 }));
    expect(answer).toMatchObject({ ok: true, info: { _type: 'playlist', entries: [{}, {}, { _type: 'url' }] } });
    expect(origin.requestsTo('/site-api/watch/limits')).toEqual([]);
  });

  it('keeps what a list said of an entry', async () => {
    const entry = { _type: 'url_transparent', url: origin.url('/files/clip.mp4'), title: 'As the list calls it' };
    expect(await worker.request(question('/files/clip.mp4', { entry }))).toMatchObject({
      ok: true,
      info: { title: 'As the list calls it', direct: true },
    });
  });

  it('goes out through the proxy of the request, and by no other way', async () => {
    const gone = await egress.openProxySession({});
    gone.close();
    const before = origin.requestsTo('/files/').length;
    const answer = await worker.request(question('/files/clip.mp4', { proxy: gone.proxyUrl }));
    expect(answer).toMatchObject({ ok: false, error: { kind: expect.stringMatching(/^(proxy|http)$/) } });
    expect(JSON.stringify(answer)).not.toContain(new URL(gone.proxyUrl).password);
    expect(origin.requestsTo('/files/')).toHaveLength(before);
  });

  it('gives up at the deadline', async () =>
    expect(await worker.request(question('/trouble/drip', { timeoutSeconds: 0.5 }))).toMatchObject({
      ok: false,
      error: { kind: 'timeout' },
    }));

  it('gives up what waits for a fork beyond its deadline', async () => {
    const leaving = new AbortController();
    const busy = [1, 2].map((n) => worker.request(question(`/site/sleep/${n}`), leaving.signal));
    const waiting = worker.request(question('/files/clip.mp4', { timeoutSeconds: 0.2 }));
    expect(await waiting).toMatchObject({ ok: false, error: { kind: 'timeout' } });
    leaving.abort();
    await Promise.all(busy);
  });

  it('drops what nobody waits for any more', async () => {
    const leaving = new AbortController();
    const asked = worker.request(question('/trouble/drip?cancelled'), leaving.signal);
    const request = () => origin.requestsTo('/trouble/drip?cancelled')[0]?.state;
    await until(() => request() === 'open');
    leaving.abort();
    expect(await asked).toMatchObject({ ok: false, error: { kind: 'cancelled' } });
    await until(() => request() === 'left');
  });

  it('answers many at once, each with its own', async () => {
    const names = ['clip.mp4', 'clip.webm', 'tone.mp3', 'clip.mkv', 'tone.ogg', 'silent.mp4'];
    const answers = await Promise.all(names.map((name) => worker.request(question(`/files/${name}`))));
    expect(answers.map((answer) => answer.ok && answer.info.webpage_url)).toEqual(
      names.map((name) => origin.url(`/files/${name}`)),
    );
  });

  it('cannot be spoken for by what a site prints', async () => {
    expect(await worker.request(question('/site/noise/1'))).toMatchObject({ ok: false, error: { message: 'noise' } });
    await until(() => stderr.includes('{"id":"forged","ok":true}'));
  });

  it('answers in JSON that every parser reads', async () =>
    expect(await worker.request(question('reelay-worker-test:not-a-number'))).toMatchObject({
      ok: true,
      info: { average_rating: null, tags: [null], description: '\ud800 \u2028 "}\n{' },
    }));

  it('remembers nothing of one request in the next', async () => {
    for (const _ of [1, 2])
      expect(await worker.request(question('reelay-worker-test:remember'))).toMatchObject({ info: { view_count: 0 } });
  });
});

describe('a fork', () => {
  const shown = async (what: string) => {
    const answer = await worker.request(question(`reelay-worker-test:${what}`));
    return answer.ok ? answer.info : answer;
  };

  it('knows nothing of the environment', async () => {
    const { tags } = (await shown('environment')) as { tags: string[] };
    const [directory, ...names] = tags.toReversed();
    expect(names.filter((name) => !name.startsWith('LC_')).sort()).toEqual(['HOME', 'LANG', 'PATH', 'TMPDIR']);
    expect(directory).toMatch(temporary);
  });

  it.runIf(process.platform === 'linux')('has no way into the conversation', async () => {
    const { tags } = (await shown('descriptors')) as { tags: string[] };
    // Node gives its children sockets: standard error is left of them.
    expect(new Set(tags.filter((tag) => tag.startsWith('socket:'))).size).toBe(1);
  });

  it('runs scripts of sites, whatever its own memory is bounded to', async () =>
    expect(await shown('runtime')).toMatchObject({ description: '42\n', view_count: 0, duration: 2 ** 29 }));
});

describe('the end of a worker', () => {
  it('is a crash for who waits, and ends its forks', async () => {
    const file = join(temporary, 'pid');
    const killed = await start({ ytDlp: known(file) });
    const asked = killed.request(question('/site/sleep/killed'));
    const pid = await pidIn(file);
    await until(async () => (await childrenOf(pid)).length === 1);
    const forks = await childrenOf(pid);
    process.kill(pid, 'SIGKILL');
    expect(await asked).toMatchObject({ ok: false, error: { kind: 'crash' } });
    await killed.ended;
    expect(await killed.request(question('/files/clip.mp4'))).toMatchObject({ ok: false, error: { kind: 'crash' } });
    await until(() => !forks.some(isAlive));
    await rm(file);
  });

  it('comes with close, for the forks too', async () => {
    const file = join(temporary, 'pid');
    const closed = await start({ ytDlp: known(file) });
    const asked = closed.request(question('/site/sleep/closed'));
    const pid = await pidIn(file);
    await until(async () => (await childrenOf(pid)).length === 1);
    const forks = await childrenOf(pid);
    await closed.close();
    expect(await asked).toMatchObject({ ok: false, error: { kind: 'crash' } });
    expect([pid, ...forks].some(isAlive)).toBe(false);
    await closed.close();
    await rm(file);
  });

  it('comes with the signal it was started with', async () => {
    const stopping = new AbortController();
    const stopped = await start({ signal: stopping.signal });
    stopping.abort();
    await stopped.ended;
  });

  it('comes with the end of the process that started it', async () => {
    // What a killed process made stays behind.
    const own = await mkdtemp(join(temporary, 'killed-'));
    const file = join(own, 'pid');
    const program = `
      const { startWorker } = await import(${JSON.stringify(new URL('../../../layers/tools/worker/worker-process.ts', import.meta.url).href)});
      const worker = await startWorker(${JSON.stringify({ ytDlp: known(file), pluginDirs, concurrency: 1, memoryBytes: 2 ** 29 })});
      worker.request(${JSON.stringify(question('/site/spin/orphan'))});
      console.log('asked');`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, TMPDIR: own },
    });
    await once(createInterface(parent.stdout), 'line');
    const pid = await pidIn(file);
    await until(async () => (await childrenOf(pid)).length === 1);
    const forks = await childrenOf(pid);
    parent.kill('SIGKILL');
    await until(() => ![pid, ...forks].some(isAlive));
    await rm(own, { recursive: true });
  });
});

describe('a worker that does not start', () => {
  it.each<[string, [string, ...string[]], RegExp]>([
    ['is not there', ['/nonexistent/yt-dlp'], /ENOENT/],
    ['ends at once', ['/bin/sh', '-c', 'echo "no such option" >&2; exit 2'], /no such option/],
    ['says nothing', ['/bin/sh', '-c', ':'], /no output/],
    ['says something else', ['/bin/sh', '-c', 'echo "{}"; echo hello; echo null'], /Not an answer/],
  ])(
    'because it %s',
    async (_, command, message) => await expect(start({ ytDlp: { ...ytDlp, command } })).rejects.toThrow(message),
  );

  it('because nobody wants it any more', async () => {
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

describe('a stuck worker', () => {
  it('is killed within five seconds, and its requests settle', async () => {
    const file = join(temporary, 'stuck');
    const stuck = await start({ ytDlp: known(file) });
    const pid = await pidIn(file);
    const stoppedAt = performance.now();
    process.kill(pid, 'SIGSTOP');
    const answer = await stuck.request(question('/files/clip.mp4'));
    expect(answer).toMatchObject({ ok: false, error: { kind: 'crash' } });
    await stuck.ended;
    expect(performance.now() - stoppedAt).toBeLessThan(6_000);
    expect(isAlive(pid)).toBe(false);
    await rm(file);
  }, 20_000);

  it('is not one that is idle', async () => {
    const idle = await start();
    await new Promise((resolve) => setTimeout(resolve, 5_500));
    expect(await idle.request(question('/files/clip.mp4'))).toMatchObject({ ok: true });
    await idle.close();
  }, 20_000);
});
