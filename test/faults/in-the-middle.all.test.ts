import { describe, expect, it } from 'vitest';
import { openResponse } from '../support/request.ts';
import { ROUTES } from './media-fixture.ts';
import { outcomeOf } from './outcome.ts';
import { ALWAYS, cells, everywhere, onFiles, type Row, useServiceFixture } from './table.ts';

const fixture = useServiceFixture();

describe('healthy upstream', () => {
  it.each(ROUTES)('delivers the same bytes every time on %s', async (route) => {
    const right = await fixture.rightOf(`${route}-long`);
    // What is not read yet counts: for MP3 that is the source, of 15 MB.
    expect(right.length).toBeGreaterThan(route === 'mp3' ? 450_000 : 2_000_000);
    expect(await outcomeOf(await fixture.there().stream(`${route}-long`), { right })).toBe('right');
  });
});

const MENDED: Row[] = [
  ['drops every response for a while', { name: 'drop', after: 20_000, times: 20 }, everywhere('right')],
  ['stalls', { name: 'stall', after: 20_000, times: 1 }, everywhere('right'), { only: /(mp4|m4a|wav|00\.ts)$/ }],
  ['lets its URLs expire (403)', { name: 'status', status: 403, times: ALWAYS }, everywhere('right'), { heals: true }],
  // Replicas name the same file by validators of their own: its bytes are compared.
  ['has another ETag', { name: 'changed', from: 0, by: 'tag' }, everywhere('right')],
  ['lets its URLs expire (404)', { name: 'status', status: 404, times: ALWAYS }, everywhere('right'), { heals: true }],
];

const BROKEN: Row[] = [
  ['dies (404)', { name: 'status', status: 404, times: ALWAYS }, everywhere('broken')],
  ['dies (500)', { name: 'status', status: 500, times: ALWAYS }, everywhere('broken')],
  ['dies (reset)', { name: 'reset', times: ALWAYS }, everywhere('broken')],
  ['dies (no further byte)', { name: 'drop', after: 0, times: ALWAYS }, everywhere('broken')],
  ['dies (silence)', { name: 'stall', after: 0, times: ALWAYS }, everywhere('broken')],
  ['is deleted', { name: 'status', status: 403, times: ALWAYS }, everywhere('broken'), { again: 'gone' }],
  [
    'loses the format',
    { name: 'status', status: 403, times: ALWAYS },
    everywhere('broken'),
    { again: 'other formats' },
  ],
  ['applies a content coding', { name: 'encoded' }, everywhere('broken')],
  // A segment without delivered bytes has nothing to differ from.
  ['has another size', { name: 'wrong-total', from: 0 }, { ...onFiles('broken'), HLS: 'right' }],
  [
    'expires and then has other bytes',
    { name: 'status', status: 403, times: ALWAYS },
    onFiles('broken'),
    { heals: true, again: 'other files' },
  ],
];

describe('upstream after the first bytes', () => {
  it.each(cells([...MENDED, ...BROKEN]))('$name: $outcome on $route', async ({ route, outcome, ...cell }) => {
    expect(await fixture.inTheMiddle(`${route}-long`, cell)).toBe(outcome);
  });
});

describe('client that disconnects while its upstream is silent', () => {
  it.each(ROUTES)('leaves no request or process behind on %s', async (route) => {
    const leaving = new AbortController();
    const { body } = await openResponse(await fixture.there().stream(`${route}-long`), { signal: leaving.signal });
    const left = new Promise((resolve) => body.once('error', resolve));
    body.once('data', () => {
      fixture.there().site.arm({ name: 'stall', after: 0, times: ALWAYS });
      leaving.abort();
    });
    await left;
  });
});

describe('client that pauses', () => {
  it('receives every byte although the upstream closes the idle connection', async () => {
    const right = await fixture.rightOf('Media-long');
    const { body } = await openResponse(await fixture.there().stream('Media-long'));
    const chunks: Buffer[] = [];
    const rested = Promise.withResolvers<void>();
    body.on('data', (chunk: Buffer) => {
      if (chunks.push(chunk) > 1) return;
      body.pause();
      fixture.there().site.arm({ name: 'drop', after: 50_000, times: ALWAYS });
      rested.resolve();
    });
    await rested.promise;
    // Every buffer is full once no more requests arrive.
    const counts: number[] = [];
    const isAsked = () => counts.push(fixture.there().origin.requests.length) < 2 || counts.at(-1) !== counts.at(-2);
    await expect.poll(isAsked, { interval: 200 }).toBe(false);
    const end = new Promise((resolve, reject) => body.once('end', resolve).once('error', reject));
    body.resume();
    await end;
    expect(Buffer.concat(chunks).equals(right)).toBe(true);
  });
});
