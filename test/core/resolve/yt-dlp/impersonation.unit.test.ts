import { describe, expect, it, vi } from 'vitest';
import { parseImpersonationRule } from '../../../../core/config/index.ts';
import { silentLog } from '../../../../core/log/index.ts';
import { createImpersonation } from '../../../../core/resolve/yt-dlp/impersonation.ts';
import type { YtDlp } from '../../../../packages/yt-dlp-worker/src/tools.ts';
import { offersTarget, readImpersonateTargets } from '../../../../packages/yt-dlp-worker/src/yt-dlp/query-yt-dlp.ts';

const build = (path: string): YtDlp => ({ version: '2026.08.19', command: [path], source: 'pypi' });
const OFFERED = ['chrome-131:macos-14', 'safari-18.0:ios-18.0', 'edge'];

describe('createImpersonation', () => {
  it.each([
    [['chrome'], 'https://a.example/', 'chrome'],
    [['b.example=safari', 'chrome'], 'https://www.b.example/x', 'safari'],
    [['chrome', 'b.example=safari'], 'https://b.example/x', 'safari'],
    [['*.b.example=safari'], 'https://b.example/x', undefined],
    [['b.example=safari'], 'https://a.example/', undefined],
    [['chrome-99'], 'https://a.example/', undefined],
    [[], 'https://a.example/', undefined],
  ])('with %j, %s is requested as %s', async (rules, link, target) => {
    const impersonation = createImpersonation(rules, silentLog, async () => OFFERED);
    expect(impersonation === undefined).toBe(rules.length === 0);
    expect(await impersonation?.targetFor(link, build('a'))).toBe(target);
  });

  it('lists the targets of each build once, and none without rules', async () => {
    const list = vi.fn(async () => OFFERED);
    const impersonation = createImpersonation(['chrome'], silentLog, list);
    impersonation?.prepare(build('a'));
    for (const path of ['a', 'a', 'b']) await impersonation?.targetFor('https://a.example/', build(path));
    expect(list).toHaveBeenCalledTimes(2);
    expect(createImpersonation([], silentLog, list)).toBeUndefined();
    expect(list).toHaveBeenCalledTimes(2);
  });

  it.each<[string, () => Promise<string[]>, string]>([
    ['offers none', async () => [], 'yt-dlp cannot imitate browsers: this build lacks curl_cffi'],
    ['lacks one', async () => ['edge'], 'yt-dlp cannot imitate these browsers'],
    ['does not run', () => Promise.reject(new Error('no')), 'yt-dlp imitates no browsers: it did not list them'],
  ])('warns of a build that %s, and imitates none', async (_, list, message) => {
    const warn = vi.fn();
    const impersonation = createImpersonation(['chrome'], { ...silentLog, warn }, list);
    expect(await impersonation?.targetFor('https://a.example/', build('a'))).toBeUndefined();
    expect(warn).toHaveBeenCalledWith(message, expect.objectContaining({ version: '2026.08.19' }));
  });
});

describe('parseImpersonationRule', () => {
  it.each([
    ['Chrome', { target: 'chrome' }],
    ['b.example=chrome-131:macos-14', { target: 'chrome-131:macos-14', site: { host: 'b.example' } }],
    ['chrome:windows', { target: 'chrome:windows' }],
  ])('parses %s', (text, rule) => expect(parseImpersonationRule(text)).toMatchObject(rule));

  it.each(['', '=chrome', 'https://b.example=chrome', 'b.example=', 'chrome 131', '131'])('rejects %j', (text) =>
    expect(parseImpersonationRule(text)).toBeUndefined(),
  );
});

describe('readImpersonateTargets', () => {
  const TABLE = `Client          OS           Source
--------------------------------------
Tor             -            curl_cffi>=0.11 (unavailable)
Chrome-131      Macos-14     curl_cffi
Safari-18.0     Ios-18.0     curl_cffi
Edge            -            curl_cffi`;

  it('reads the available rows of the table', () => expect(readImpersonateTargets(TABLE)).toEqual(OFFERED));

  it.each([
    ['chrome', true],
    ['chrome-131', true],
    ['chrome-131:macos', true],
    ['chrome-131:macos-14', true],
    ['edge', true],
    ['chrome-13', false],
    ['chrome:windows', false],
    ['safari:macos', false],
    ['tor', false],
  ])('%s is offered: %s', (target, expected) => expect(offersTarget(OFFERED, target)).toBe(expected));
});
