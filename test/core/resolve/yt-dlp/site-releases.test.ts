import { beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../core/log/log.ts';
import { toError } from '../../../../core/resolve/yt-dlp/failures.ts';
import {
  createSiteReleases,
  type Release,
  type ReleaseRequest,
} from '../../../../core/resolve/yt-dlp/site-releases.ts';
import type { YtDlp } from '../../../../core/tools/tools.ts';
import type { WorkerFailure } from '../../../../core/tools/worker/worker-protocol.ts';

const MINUTE_MS = 60_000;
const BUG: WorkerFailure = { kind: 'bug' };
const ytDlp = (version: string): YtDlp => ({ version, command: [version], source: 'release' });

let nowMs: number;
let installed: { stable: YtDlp; nightly: YtDlp | undefined };
/** What each release fails with, by host. */
let broken: Record<Release, Record<string, WorkerFailure | Error>>;
let attempts: Release[];
let releases: ReturnType<typeof createSiteReleases>;

beforeEach(() => {
  nowMs = 1_000_000;
  installed = { stable: ytDlp('2026.10.21'), nightly: ytDlp('2026.10.26') };
  broken = { default: {}, alternative: {} };
  releases = createSiteReleases(
    { ytDlp: () => installed.stable, alternative: () => installed.nightly },
    silentLog,
    () => nowMs,
  );
});

/** Extracts a link. @returns the releases that were tried, or throws the error */
const extract = async (url = 'https://a.example/1', more: Partial<ReleaseRequest> = {}) => {
  attempts = [];
  const request = { url, deadline: Date.now() + 25_000, signal: new AbortController().signal, ...more };
  await releases.extract(request, async (release) => {
    attempts.push(release);
    const failure = broken[release][new URL(url).hostname];
    if (failure) throw failure instanceof Error ? failure : toError(failure, url);
  });
  return attempts;
};

describe('createSiteReleases', () => {
  it('tries a link once with the other release, and stays with it for the site alone', async () => {
    broken.default['a.example'] = BUG;
    expect(await extract()).toEqual(['default', 'alternative']);
    expect(await extract('https://a.example/2')).toEqual(['alternative']);
    broken.default['www.b.example'] = BUG;
    expect(await extract('https://www.b.example/')).toEqual(['default', 'alternative']);
    expect(await extract('https://m.b.example/')).toEqual(['alternative']);
    expect(await extract('https://c.example/')).toEqual(['default']);
  });

  it('tests the default release with growing pauses, by one link each time, and returns to it once it works', async () => {
    broken.default['a.example'] = BUG;
    await extract();
    for (const pauseMinutes of [10, 20, 40]) {
      nowMs += pauseMinutes * MINUTE_MS - 1;
      expect(await extract()).toEqual(['alternative']);
      nowMs += 1;
      expect(await extract()).toEqual(['default', 'alternative']);
      expect(await extract()).toEqual(['alternative']);
    }
    delete broken.default['a.example'];
    nowMs += 80 * MINUTE_MS;
    expect(await extract()).toEqual(['default']);
    expect(await extract()).toEqual(['default']);
  });

  it.each<[string, () => unknown]>([
    ['another default release', () => (installed.stable = ytDlp('2026.10.30'))],
    ['another alternative', () => (installed.nightly = ytDlp('2026.10.30.1'))],
  ])('tests the default release at once with %s', async (_, change) => {
    broken.default['a.example'] = BUG;
    await extract();
    change();
    expect(await extract()).toEqual(['default', 'alternative']);
    expect(await extract()).toEqual(['alternative']);
  });

  it('tests the default release on demand, also when it hangs', async () => {
    broken.default['a.example'] = BUG;
    await extract();
    broken.default['a.example'] = new DOMException('The operation timed out', 'TimeoutError');
    expect(await extract(undefined, { isReleaseTest: true })).toEqual(['default', 'alternative']);
    delete broken.default['a.example'];
    expect(await extract(undefined, { isReleaseTest: true })).toEqual(['default']);
    expect(await extract()).toEqual(['default']);
  });

  it('returns to the default release when the alternative fails and the default one works', async () => {
    broken.default['a.example'] = BUG;
    await extract();
    broken.default = {};
    broken.alternative['a.example'] = { kind: 'unreadable_formats' };
    expect(await extract()).toEqual(['alternative', 'default']);
    expect(await extract()).toEqual(['default']);
  });

  it('tries the other release first for URLs that the site refuses, and stays with it', async () => {
    const isMediaRefused = true;
    expect(await extract()).toEqual(['default']);
    expect(await extract(undefined, { isMediaRefused })).toEqual(['alternative']);
    expect(await extract()).toEqual(['alternative']);
    expect(await extract(undefined, { isMediaRefused })).toEqual(['default']);
    broken.alternative['a.example'] = { kind: 'network' };
    expect(await extract(undefined, { isMediaRefused })).toEqual(['alternative', 'default']);
    expect(await extract()).toEqual(['default']);
  });

  it('does not try the other release through each outgoing address', async () => {
    broken.default['a.example'] = { kind: 'http', httpStatus: 403 };
    await expect(extract(undefined, { isOtherAddress: true })).rejects.toMatchObject({ reason: 'refused' });
    expect(attempts).toEqual(['default']);
  });

  it('uses the default release when the alternative is not installed or does not run', async () => {
    broken.default['a.example'] = BUG;
    await extract();
    broken = { default: {}, alternative: { 'a.example': { kind: 'crash' } } };
    expect(await extract()).toEqual(['alternative', 'default']);
    installed.nightly = undefined;
    expect(await extract()).toEqual(['default']);
  });

  it.each<[WorkerFailure, boolean]>([
    [{ kind: 'bug' }, true],
    [{ kind: 'unreadable_formats' }, true],
    [{ kind: 'no_formats', message: 'No video formats found!' }, true],
    [{ kind: 'no_formats', message: 'The page needs to be reloaded.' }, true],
    [{ kind: 'expected', message: 'Unable to extract the player' }, true],
    [{ kind: 'http', httpStatus: 403 }, true],
    [{ kind: 'http', httpStatus: 400 }, true],
    [{ kind: 'no_formats', message: "Sign in to confirm you're not a bot" }, false],
    [{ kind: 'no_formats', message: 'This video is private' }, false],
    [{ kind: 'expected', message: 'No video in this post' }, false],
    [{ kind: 'http', httpStatus: 403, message: 'Access denied: captcha' }, false],
    [{ kind: 'http', httpStatus: 404 }, false],
    [{ kind: 'http', httpStatus: 429 }, false],
    [{ kind: 'http', httpStatus: 503 }, false],
    ...(['login', 'geo', 'drm', 'upcoming', 'unsupported', 'timeout', 'network', 'dns', 'crash'] as const).map(
      (kind): [WorkerFailure, boolean] => [{ kind }, false],
    ),
  ])('%o: tries the other release: %s', async (failure, isTried) => {
    broken.default['a.example'] = failure;
    const extracted = extract();
    if (isTried) expect(await extracted).toEqual(['default', 'alternative']);
    else await expect(extracted).rejects.toThrow();
    expect(attempts).toHaveLength(isTried ? 2 : 1);
  });

  it('does not try the other release when too little time is left', async () => {
    broken.default['a.example'] = BUG;
    await expect(extract(undefined, { deadline: Date.now() + 2_999 })).rejects.toMatchObject({
      reason: 'site-changed',
    });
    expect(attempts).toEqual(['default']);
  });

  it.each<[WorkerFailure, string]>([
    [{ kind: 'no_formats', message: 'This video is private' }, 'private'],
    [{ kind: 'http', httpStatus: 410 }, 'gone'],
    [{ kind: 'no_formats' }, 'site-changed'],
    [{ kind: 'timeout' }, 'site-changed'],
    [{ kind: 'crash' }, 'site-changed'],
  ])('throws the error of the release that says more: the other one fails with %o', async (failure, reason) => {
    broken = { default: { 'a.example': BUG }, alternative: { 'a.example': failure } };
    await expect(extract()).rejects.toMatchObject({ reason });
    expect(attempts).toEqual(['default', 'alternative']);
  });

  it('leaves out the second attempt for minutes after three links that failed with both', async () => {
    broken = { default: { 'a.example': BUG }, alternative: { 'a.example': BUG } };
    const attemptsOf = async () => {
      await expect(extract()).rejects.toThrow();
      return attempts.length;
    };
    expect([await attemptsOf(), await attemptsOf(), await attemptsOf(), await attemptsOf()]).toEqual([2, 2, 2, 1]);
    broken.alternative = {};
    nowMs += 10 * MINUTE_MS;
    expect(await extract()).toEqual(['default', 'alternative']);
    expect(await extract()).toEqual(['alternative']);
  });
});
