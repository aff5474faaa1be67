import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEgress } from '../../core/egress/create-egress.ts';
import type { WorkerProcess } from '../../packages/yt-dlp-worker/src/worker/worker-process.ts';
import { startOrigin } from '../origin/server.ts';
import { installedTools } from '../support/installed-tools.ts';

const PLUGIN_DIRS = ['../origin/plugin', './plugin'].map((dir) => fileURLToPath(new URL(dir, import.meta.url)));

/**
 * The real yt-dlp, through the real egress, against the origin. Temporary files of the tests are in a folder of their own:
 * a file that leaves any there fails.
 * @param kept files in that folder that tests write at their start
 */
export async function startYtDlpFixture({ kept = [] }: { readonly kept?: readonly string[] } = {}) {
  const { ytDlp } = await installedTools();
  const origin = await startOrigin();
  const egress = createEgress({ allow: [origin.host] });
  const proxySession = await egress.openProxySession({});
  const temporary = await mkdtemp(join(tmpdir(), 'reelay-yt-dlp-test-'));
  const systemTemporary = process.env.TMPDIR;

  beforeAll(() => {
    process.env.TMPDIR = temporary;
  });
  afterAll(async () => {
    expect((await readdir(temporary)).sort()).toEqual(kept);
    if (systemTemporary === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = systemTemporary;
    proxySession.close();
    await egress.close();
    await origin.close();
    await rm(temporary, { recursive: true, force: true });
  });

  return {
    origin,
    egress,
    proxySession,
    temporary,
    options: { ytDlp, pluginDirs: PLUGIN_DIRS, concurrency: 2, memoryBytes: 2 ** 29 },
    /** A request for a URL, or for a path of the origin. */
    requestOf: (url: string, more: object = {}) => ({
      url: url.startsWith('/') ? origin.url(url) : url,
      timeoutSeconds: 30,
      proxy: proxySession.proxyUrl,
      flat: true,
      playlistLimit: 10,
      ...more,
    }),
  };
}

export type YtDlpFixture = Awaited<ReturnType<typeof startYtDlpFixture>>;

export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
};

export const until = (condition: () => unknown) => expect.poll(condition, { interval: 10 }).toBe(true);

/**
 * Tests of what a worker and a process per link have in common.
 * @param ownVariables names of variables that shells set by themselves
 */
export function testExtraction(
  { origin, egress, temporary, requestOf }: YtDlpFixture,
  current: () => WorkerProcess,
  ownVariables = /^LC_/,
): void {
  const request: WorkerProcess['request'] = (...args) => current().request(...args);

  it.each([
    ['/trouble/404', { kind: 'http', httpStatus: 404 }],
    ['/site/drm/1', { kind: 'drm', extractor: 'ReelayTest', expected: true }],
    ['/site/private/1', { kind: 'expected', message: expect.stringMatching(/private/i) }],
    ['/site/memory/1', { kind: 'memory' }],
    ['/site/exit/1', { kind: 'crash' }],
    ['reelay-worker-test:large', { kind: 'too_large' }],
  ])('classifies the failure of %s', async (url, error) =>
    expect(await request(requestOf(url))).toMatchObject({ ok: false, error }),
  );

  it('passes the arguments of the operator to extractors', async () =>
    expect(await request(requestOf('reelay-worker-test:arguments'))).toMatchObject({
      ok: true,
      info: { tags: ["it's", 'Two', 'dash'] },
    }));

  it('passes the client of YouTube for one request, beside the arguments of the operator', async () =>
    expect(await request(requestOf('reelay-worker-test:arguments', { playerClient: 'visionos' }))).toMatchObject({
      ok: true,
      info: { tags: ["it's", 'Two', 'dash', 'visionos'] },
    }));

  it('has an environment of fixed variables only', async () => {
    const answer = await request(requestOf('reelay-worker-test:environment'));
    const { tags } = ('info' in answer ? answer.info : answer) as { tags: string[] };
    const [directory, ...names] = tags.toReversed();
    expect(names.filter((name) => !ownVariables.test(name)).sort()).toEqual(['HOME', 'LANG', 'PATH', 'TMPDIR']);
    expect(directory).toMatch(temporary);
  });

  it('fails at the deadline', async () =>
    expect(await request(requestOf('/trouble/drip', { timeoutSeconds: 1 }))).toMatchObject({
      ok: false,
      error: { kind: 'timeout' },
    }));

  it('fails a request whose deadline passes before one of `concurrency` slots is free', async () => {
    const leaving = new AbortController();
    const busy = [1, 2].map((n) => request(requestOf(`/site/sleep/${n}`), leaving.signal));
    const waiting = request(requestOf('/files/clip.mp4', { timeoutSeconds: 0.2 }));
    expect(await waiting).toMatchObject({ ok: false, error: { kind: 'timeout' } });
    leaving.abort();
    await Promise.all(busy);
  });

  it('connects through the proxy of the request only', async () => {
    const gone = await egress.openProxySession({});
    gone.close();
    const answer = await request(requestOf('/files/clip.mp4?gone', { proxy: gone.proxyUrl }));
    expect(answer).toMatchObject({ ok: false, error: { kind: expect.stringMatching(/^(proxy|http)$/) } });
    expect(JSON.stringify(answer)).not.toContain(new URL(gone.proxyUrl).password);
    expect(origin.requestsTo('/files/clip.mp4?gone')).toEqual([]);
  });

  it('lists a playlist up to the limit, without resolving its entries', async () => {
    const answer = await request(requestOf('/site/list/limits?n=6', { playlistLimit: 3 }));
    expect(answer).toMatchObject({ ok: true, info: { _type: 'playlist', entries: [{}, {}, { _type: 'url' }] } });
    const last = await request(requestOf('/site/list/limits?n=6', { playlistLimit: 3, playlistOffset: 4 }));
    expect(last).toMatchObject({
      ok: true,
      info: { playlist_count: 6, entries: [{ title: 'Entry 5' }, { title: 'Entry 6' }] },
    });
    const none = await request(requestOf('/site/list/limits?n=6', { playlistOffset: 6 }));
    expect(none).toMatchObject({ ok: true, info: { entries: [] } });
    expect(origin.requestsTo('/site-api/watch/limits')).toEqual([]);
  });

  it('keeps the metadata that a list has for an entry', async () => {
    const entry = { _type: 'url_transparent', url: origin.url('/files/clip.mp4'), title: "As the list 'calls' it" };
    expect(await request(requestOf('/files/clip.mp4', { entry }))).toMatchObject({
      ok: true,
      info: { title: "As the list 'calls' it", direct: true },
    });
  });

  it('gives no period of DASH as the whole', async () =>
    expect(await request(requestOf('/dash/periods/manifest.mpd'))).toMatchObject({
      ok: false,
      error: { kind: 'separate_periods' },
    }));

  it('reads constants of Python that are not JSON', async () =>
    expect(await request(requestOf('reelay-worker-test:not-a-number'))).toMatchObject({
      ok: true,
      info: { average_rating: null, tags: [null], description: '\ud800 \u2028 "}\n{' },
    }));

  it('runs scripts of sites under its memory limit', async () =>
    expect(await request(requestOf('reelay-worker-test:runtime'))).toMatchObject({
      info: { description: '42\n', view_count: 0, duration: 2 ** 29 },
    }));

  it('ends scripts of sites that use too much memory outside of the heap', async () => {
    const answer = await request(requestOf('reelay-worker-test:runtime-memory'));
    const { view_count: status, description: output } = 'info' in answer ? answer.info : {};
    expect(output).toBe('');
    expect(status).toBeGreaterThan(0);
  });
}
