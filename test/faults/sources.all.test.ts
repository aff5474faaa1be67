import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MP3_FRAME_BYTES } from '../../core/conversions/conversion.ts';
import { id3TagBytes } from '../../packages/seekable-media/src/tags/id3.ts';
import type { Fault } from '../origin/faults.ts';
import { packetsOf } from '../support/media-tools.ts';
import { openResponse, sendRequest } from '../support/request.ts';
import { ROUTES } from './media-fixture.ts';
import { outcomeOf } from './outcome.ts';
import { ALWAYS, cells, everywhere, onFiles, type Row, useServiceFixture } from './table.ts';

const fixture = useServiceFixture();

describe('healthy upstream', () => {
  it.each(ROUTES)('delivers the same bytes every time on %s', async (route) => {
    for (const item of [`${route}-short`, `${route}-long`] as const) {
      const right = await fixture.rightOf(item);
      // What is not read yet counts: for MP3 that is the source, of 15 MB.
      const least = item.endsWith('short') ? 50_000 : route === 'mp3' ? 450_000 : 2_000_000;
      expect(right.length, item).toBeGreaterThan(least);
      expect(await outcomeOf(await fixture.there().stream(item), { right }), item).toBe('right');
    }
  });

  it('delivers the unchanged file on Media', async () => {
    const file = await readFile(join(fixture.there().origin.mediaDir, 'clip.mp4'));
    expect((await fixture.rightOf('Media-short')).equals(file)).toBe(true);
  });
});

const UNSIZED: Fault = { name: 'ignore-range', length: false };
const status = (code: number): Fault => ({ name: 'status', status: code, times: ALWAYS });
const RIGHT = everywhere('right');
const BROKEN = everywhere('broken');

// One fault of each kind: test/stream-service/source has further ones, for a file and for segments.
const ROWS: Row[] = [
  ['drops repeatedly', { name: 'drop', after: 20_000, times: 12 }, { start: RIGHT }],
  ['drops every response for a while', { name: 'drop', after: 20_000, times: 20 }, { middle: RIGHT }],
  ['stalls twice', { name: 'stall', after: 20_000, times: 2 }, { start: RIGHT }],
  ['stalls', { name: 'stall', after: 20_000, times: 1 }, { middle: RIGHT }, { only: /(mp4|m4a|wav|00\.ts)$/ }],
  ['sends another range twice', { name: 'wrong-range', times: 2 }, { start: RIGHT }],
  ['ignores Range and drops', { name: 'ignore-range', length: true, dropAfter: 50_000, times: 2 }, { start: RIGHT }],
  ['answers 503 three times', { name: 'status', status: 503, times: 3 }, { start: RIGHT }],
  ['lets its URLs expire (403)', status(403), { start: RIGHT, middle: RIGHT }, { heals: true }],
  ['lets its URLs expire (404)', status(404), { middle: RIGHT }, { heals: true }],
  // Replicas name the same file by validators of their own: its bytes are compared.
  ['has another ETag', { name: 'changed', from: 0, by: 'tag' }, { middle: RIGHT }],
  // Segments are requested whole: without a length, one of the wrong length cannot be detected.
  ['sends less than Content-Length', { name: 'short-body', by: 5_000, times: 3 }, { start: onFiles('right') }],
  ['ignores Range and sends no length', UNSIZED, { start: { Media: 'right' } }],
  ['closes too early', { name: 'unframed', after: 20_000, times: 2 }, { start: { Media: 'right', HLS: 'right' } }],
  ['truncates without a length', { name: 'unframed', after: 20_000, times: ALWAYS }, { start: { Media: 'broken' } }],
  ['forbids HEAD, open ends and large ranges', { name: 'strict', largest: 64 * 1024 }, { start: RIGHT }],
  ['is gone (404)', status(404), { start: everywhere('404'), middle: BROKEN }],
  ['refuses (403)', status(403), { start: everywhere('502') }],
  ['is deleted', status(403), { start: everywhere('404'), middle: BROKEN }, { again: 'gone' }],
  ['loses the format', status(403), { start: everywhere('404'), middle: BROKEN }, { again: 'other formats' }],
  ['dies (500)', status(500), { start: everywhere('502'), middle: BROKEN }],
  ['dies (reset)', { name: 'reset', times: ALWAYS }, { middle: BROKEN }],
  ['drops at once', { name: 'drop', after: 0, times: ALWAYS }, { start: everywhere('502'), middle: BROKEN }],
  ['is silent', { name: 'stall', after: 0, times: ALWAYS }, { start: everywhere('502'), middle: BROKEN }],
  [
    'never sends the requested range',
    { name: 'wrong-range', times: ALWAYS },
    { start: { ...onFiles('502'), HLS: 'right' } },
  ],
  ['applies a content coding', { name: 'encoded' }, { start: { ...onFiles('415'), HLS: '502' }, middle: BROKEN }],
  ['redirects inward', { name: 'redirect', location: 'http://127.0.0.1:1/' }, { start: everywhere('404') }],
  // A segment without delivered bytes has nothing to differ from.
  ['has another size', { name: 'wrong-total', from: 0 }, { middle: { ...onFiles('broken'), HLS: 'right' } }],
  [
    'expires and then has other bytes',
    status(403),
    { middle: onFiles('broken') },
    { heals: true, again: 'other files' },
  ],
];

describe('upstream', () => {
  it.each(cells(ROWS))('from $from $name: $outcome on $route', async ({ outcome, ...cell }) => {
    expect(await fixture.outcomeOfCell(cell)).toBe(outcome);
  });
});

describe('upstream without Content-Length', () => {
  it('is converted into the same MP3, without the frame that tells its length', async () => {
    const right = await fixture.rightOf('mp3-short');
    const tagBytes = id3TagBytes(right);
    const url = await fixture.there().stream('mp3-short');
    fixture.there().site.arm(UNSIZED);
    const { status, body } = await sendRequest(url);
    expect([status, right.includes('Info', tagBytes)]).toEqual([200, true]);
    const withoutInfo = Buffer.concat([right.subarray(0, tagBytes), right.subarray(tagBytes + MP3_FRAME_BYTES)]);
    expect(body.equals(withoutInfo), `${body.length} of ${withoutInfo.length}`).toBe(true);
  });

  const digestsOf = async (bytes: Buffer, side: 'v' | 'a') =>
    (await packetsOf(bytes, side)).map((packet) => packet.split(' ')[1]);

  it('is muxed by FFmpeg on Combined into the same packets', async () => {
    const url = await fixture.there().stream('Combined-short');
    fixture.there().site.arm(UNSIZED);
    const { status, body } = await sendRequest(url);
    expect(status).toBe(200);
    const right = await fixture.rightOf('Combined-short');
    for (const side of ['v', 'a'] as const) {
      const digests = await digestsOf(body, side);
      expect(digests.length).toBeGreaterThan(50);
      expect(digests).toEqual(await digestsOf(right, side));
    }
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
