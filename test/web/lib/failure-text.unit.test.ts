import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../clients/reelay-client/src/failure.ts';
import { PROBLEM_TYPES, type ProblemName } from '../../../core/api/problem-types.ts';
import first from '../../../web/locales/en.json' with { type: 'json' };
import lazy from '../../../web/locales/lazy/en.json' with { type: 'json' };
import { type ApiFailure, toApiFailure } from '../../../web/src/api/failure.ts';
import { createTexts, LOCALES, loadTexts } from '../../../web/src/texts.ts';
import { failureText, isWorthRetrying, progressText, streamFailureText } from '../../../web/src/ui/failure-text.ts';

/** Types that the page never meets: it sends no such request, or is gone. */
const NEVER_MET: readonly string[] = [
  'method-not-allowed',
  'disconnected',
  'destination-failed',
  'destination-refused',
];
/** Types whose words are those of the general ones of their status. */
const GENERAL: readonly string[] = ['not-found', 'refused', 'site-error'];
const GENERAL_KEYS = ['=failure.not-found', '=failure.refused', '=failure.failed'];

const types = (Object.keys(PROBLEM_TYPES) as ProblemName[]).filter((name) => !NEVER_MET.includes(name));
const LINK = 'https://www.example.com/video';

/** The failure as the page reads it from a response of this type. @param title that no text may repeat */
const failureFor = async (name: string, status: number, headers: Record<string, string> = {}) => {
  const body = JSON.stringify({ type: `/problems/${name}`, title: 'Raw title', detail: 'Raw detail', status });
  return toApiFailure(await failureOf(new Response(body, { status, headers }))) as ApiFailure;
};
/** Texts that name their keys. */
const keys = createTexts('en', Object.fromEntries(Object.keys({ ...first, ...lazy }).map((key) => [key, `=${key}`])));
const texts = await Promise.all(
  LOCALES.map(async (locale) => {
    const loaded = await loadTexts(locale);
    await loaded.loadLazy();
    return loaded;
  }),
);
const [english = keys] = texts;

describe('failureText', () => {
  it.each(types)('has words of its own for %s, in every language', async (name) => {
    const failure = await failureFor(name, PROBLEM_TYPES[name].status);
    expect(GENERAL_KEYS.includes(failureText(keys, failure).title)).toBe(GENERAL.includes(name));
    const said = texts.map((language) => Object.values(failureText(language, failure, LINK)).join(' '));
    for (const text of said) expect(text).not.toMatch(/failure\.|[{}]|Raw/);
    expect(new Set(said).size).toBe(LOCALES.length);
  });

  it('keeps the words of the type where a stream answers 502 instead of 415', async () =>
    expect(failureText(keys, await failureFor('drm', 502)).title).toBe('=failure.drm'));

  it.each(['constructor', 'unheard-of'])('falls back on the status for the type %s', async (name) => {
    expect(failureText(keys, await failureFor(name, 415)).title).toBe('=failure.refused');
    expect(failureText(keys, await failureFor(name, 503)).title).toBe('=failure.waking');
  });

  it.each([
    [10_800, 'It starts in 3 hours.'],
    [200_000, 'It starts in 2 days.'],
    [1, 'Try again once it has started.'],
    [99_999_999, 'Try again once it has started.'],
  ])('tells when it starts, %d s from now', async (seconds, what) => {
    const failure = await failureFor('not-started', 404, { 'retry-after': String(seconds) });
    expect(failureText(english, failure)).toEqual({ title: 'Not started yet', what });
  });

  it('names the site that limits the server, and when to try again', async () => {
    const failure = await failureFor('rate-limited', 502, { 'retry-after': '300' });
    expect(failureText(english, failure, LINK).what).toBe('example.com is limiting this server. Try again in 5 min.');
    expect(failureText(english, failure).what).toBe('The site is limiting this server. Try again in 5 min.');
  });

  it('isolates the name of a site from a text that runs from right to left', async () => {
    const arabic = texts.find(({ direction }) => direction === 'rtl') ?? keys;
    const failure = await failureFor('rate-limited', 502);
    expect(failureText(arabic, failure, LINK).what).toContain('\u2068example.com\u2069');
  });
});

describe('streamFailureText', () => {
  it.each<[string, number, string, string?]>([
    ['not-found', 404, 'expired'],
    ['link-refused', 403, 'expired'],
    ['gone', 404, 'gone', 'example.com no longer has it.'],
    ['refused', 502, 'refused', 'example.com may ask for a sign-in or payment, or keep it private.'],
    ['rate-limited', 502, 'rate-limited', 'example.com is limiting this server. Try again later.'],
    ['site-error', 502, 'failed', 'example.com answered with an error. Try again in a moment.'],
    ['not-started', 404, 'not-started'],
  ])('says of %s that its key has expired, or what its type says of the site', async (name, status, title, what) => {
    const failure = await failureFor(name, status);
    expect(streamFailureText(keys, failure).title).toBe(`=failure.${title}`);
    if (what) expect(streamFailureText(english, failure, LINK).what).toBe(what);
  });
});

describe('isWorthRetrying', () => {
  it.each([
    ['bot-check', 415, true],
    ['drm', 415, false],
    ['private-address', 404, false],
    ['no-media', 415, false],
    ['unknown-host', 404, true],
    ['site-timeout', 502, true],
  ])('%s: %s', async (name, status, isWorth) =>
    expect(isWorthRetrying(await failureFor(name, status as number))).toBe(isWorth),
  );
});

describe('progressText', () => {
  it.each([
    [{ step: 'fetch' }, 'Fetching yt-dlp'],
    [{ step: 'fetch', receivedBytes: 12_000_000 }, 'Fetching yt-dlp: 12 MB'],
    [{ step: 'fetch', receivedBytes: 12_000_000, totalBytes: 34_000_000 }, 'Fetching yt-dlp: 12 MB of 34 MB (35%)'],
    [{ step: 'install' }, 'Installing yt-dlp'],
    [{ step: 'check' }, 'Checking yt-dlp'],
  ] as const)('of %j', (progress, text) => expect(progressText(english, { tool: 'yt-dlp', ...progress })).toBe(text));
});
