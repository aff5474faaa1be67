import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLinkProcesses } from '../../packages/yt-dlp-worker/src/worker/link-processes.ts';
import type { WorkerOptions, WorkerProcess } from '../../packages/yt-dlp-worker/src/worker/worker-process.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { isAlive, startYtDlpFixture, testExtraction, until } from './yt-dlp-fixture.ts';

const fixture = await startYtDlpFixture({ kept: ['cookies.txt', 'site.txt'] });
const { origin, egress, proxySession, temporary, requestOf } = fixture;
const { ytDlp } = fixture.options;
const cookiesFile = join(temporary, 'cookies.txt');
const siteCookies = join(temporary, 'site.txt');
const extractorArgs = ["reelayworkertest:tokens=it's,Two", 'youtube:skip=dash'];

const start = (options: Partial<WorkerOptions> = {}) => startLinkProcesses({ ...fixture.options, ...options });
/** A program instead of yt-dlp, which says that it has limits. Its arguments are those of yt-dlp. */
const program = (script: string, confined = 'echo "reelay: confined" >&2; ') =>
  start({ ytDlp: { ...ytDlp, command: ['/bin/sh', '-c', `${confined}${script}`, 'sh'] } }).then(closeAfterwards);
let processes: WorkerProcess;
const COOKIES = '# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\tfrom-file\n';
beforeAll(async () => {
  await writeFile(cookiesFile, COOKIES);
  await writeFile(siteCookies, COOKIES.replace('session\tfrom-file', 'site\tfrom-folder'));
  processes = await start({ cookiesFile, cookiesDir: [siteCookies], extractorArgs });
});
afterAll(() => processes.close());

describe('startLinkProcesses', () => {
  it('resolves a direct file, with the cookies of the operator, and leaves their file as it is', async () => {
    expect(await processes.request(requestOf('/files/clip.mp4?cookies'))).toMatchObject({
      ok: true,
      info: { id: 'clip', direct: true, formats: [{ url: origin.url('/files/clip.mp4?cookies') }] },
    });
    const [request] = origin.requestsTo('/files/clip.mp4?cookies');
    expect(request?.headers.cookie?.split('; ').sort()).toEqual(['session=from-file', 'site=from-folder']);
    expect(await readFile(cookiesFile, 'utf8')).toBe(COOKIES);
  });

  // By the classifier of the worker, whose kinds are in worker.all.test.ts.
  it.concurrent.each([
    ['/site/kill/1', { kind: 'crash', isInterrupted: true }],
    ['--version', { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
    ["x' --exec 'touch /tmp/x", { kind: expect.stringMatching(/^(bad_scheme|expected)$/) }],
  ])('fails for %s', async (url, error) =>
    expect(await processes.request(requestOf(url))).toMatchObject({ ok: false, error }),
  );

  testExtraction(fixture, () => processes, /^(LC_\w+|PWD|SHLVL|OLDPWD|_)$/);

  it('reports addresses that the egress refuses', async () => {
    const session = await egress.openProxySession({});
    await processes.request(requestOf('/inward/redirect?to=http://10.1.2.3/x.mp4', { proxy: session.proxyUrl }));
    expect(session.isRefused()).toBe(true);
    session.close();
  });
});

describe('a process per link', () => {
  it('ends with the request that is cancelled, and all that it has started', async () => {
    const file = join(temporary, 'pids');
    const sleeping = await program(`/bin/sleep 600 & echo "$$ $!" >${file}; wait`);
    const leaving = new AbortController();
    const response = sleeping.request(requestOf('/files/clip.mp4'), leaving.signal);
    await until(async () => /\d \d/.test(await readFile(file, 'utf8').catch(() => '')));
    const pids = (await readFile(file, 'utf8')).trim().split(' ').map(Number);
    leaving.abort();
    expect(await response).toMatchObject({ ok: false, error: { kind: 'cancelled' } });
    await until(() => !pids.some(isAlive));
    await rm(file);
  });

  it('ends with close, and its request fails', async () => {
    const sleeping = await program('/bin/sleep 600');
    const response = sleeping.request(requestOf('/files/clip.mp4'));
    await sleeping.close();
    expect(await response).toMatchObject({ ok: false, error: { kind: 'crash', isInterrupted: true } });
    expect(sleeping.hasEnded()).toBe(true);
    await sleeping.ended;
  });

  it('has the limits of the operating system of a fork', async () =>
    expect(await processes.request(requestOf('reelay-worker-test:limits', { timeoutSeconds: 27 }))).toMatchObject({
      info: { tags: [2 ** 29, 2 ** 33, 256, 2 ** 26, 0, 29, 1280 * 2 ** 20] },
    }));

  it('fails where yt-dlp does not load the plugin that sets its limits', async () => {
    const unlimited = await program(`echo '{"id":"1"}'`, '');
    expect(await unlimited.request(requestOf('/files/clip.mp4'))).toMatchObject({
      ok: false,
      error: { kind: 'crash', message: 'yt-dlp ran without its limits' },
    });
  });

  it('keeps the link and the credentials of its proxy off the command line', async () => {
    const shown = await program('printf "%s\\n" "$@" >&2; echo "ERROR: $*"; exit 1');
    const answer = await shown.request(requestOf('/files/clip.mp4?secret'));
    expect(JSON.stringify(answer)).not.toMatch(/secret/);
    expect(JSON.stringify(answer)).not.toContain(new URL(proxySession.proxyUrl).password);
  });

  it.each<[string, string, object]>([
    ['no output', 'exit 0', { kind: 'crash' }],
    ['a list', 'echo "[1]"', { kind: 'crash' }],
    ['half of an object', 'echo \'{"id":\'', { kind: 'crash' }],
    ['endless output', '/usr/bin/yes', { kind: 'too_large' }],
    ['endless errors', '/usr/bin/yes >&2', { kind: 'too_large' }],
    ['a program that does not exist', 'exec /nonexistent', { kind: 'crash' }],
  ])('fails with %s', async (_, script, error) => {
    const hostile = await program(script);
    expect(await hostile.request(requestOf('/files/clip.mp4'))).toMatchObject({ ok: false, error });
  });
});
