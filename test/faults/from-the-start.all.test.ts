import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MP3_FRAME_BYTES } from '../../core/conversions/conversion.ts';
import { id3TagBytes } from '../../packages/seekable-media/src/tags/id3.ts';
import type { Fault } from '../origin/faults.ts';
import { runProgram, withTemporaryFolder } from '../support/media-tools.ts';
import { sendRequest } from '../support/request.ts';
import { ROUTES } from './media-fixture.ts';
import { outcomeOf } from './outcome.ts';
import { ALWAYS, cells, everywhere, onFiles, type Row, useServiceFixture } from './table.ts';

const fixture = useServiceFixture();

describe('healthy upstream', () => {
  it.each(ROUTES)('delivers the same bytes every time on %s', async (route) => {
    const right = await fixture.rightOf(`${route}-short`);
    expect(right.length).toBeGreaterThan(50_000);
    expect(await outcomeOf(await fixture.there().stream(`${route}-short`), { right })).toBe('right');
  });

  it('delivers the unchanged file on Media', async () => {
    const file = await readFile(join(fixture.there().origin.mediaDir, 'clip.mp4'));
    expect((await fixture.rightOf('Media-short')).equals(file)).toBe(true);
  });
});

const UNSIZED: Fault = { name: 'ignore-range', length: false };

// One fault of each kind: test/stream-service/source has further ones, for a file and for segments.
const MENDED: Row[] = [
  ['drops repeatedly', { name: 'drop', after: 20_000, times: 12 }, everywhere('right')],
  ['stalls', { name: 'stall', after: 20_000, times: 2 }, everywhere('right')],
  ['sends another range twice', { name: 'wrong-range', times: 2 }, everywhere('right')],
  ['ignores Range and drops', { name: 'ignore-range', length: true, dropAfter: 50_000, times: 2 }, everywhere('right')],
  ['answers 503 three times', { name: 'status', status: 503, times: 3 }, everywhere('right')],
  ['let its URLs expire (403)', { name: 'status', status: 403, times: ALWAYS }, everywhere('right'), { heals: true }],
  // Segments are requested whole: without a length, one of the wrong length cannot be detected.
  ['sends less than Content-Length', { name: 'short-body', by: 5_000, times: 3 }, onFiles('right')],
  ['ignores Range and sends no length', UNSIZED, { Media: 'right' }],
  ['closes the connection too early', { name: 'unframed', after: 20_000, times: 2 }, { Media: 'right', HLS: 'right' }],
  ['forbids HEAD, open ends and large ranges', { name: 'strict', largest: 64 * 1024 }, everywhere('right')],
];

const DEAD: Row[] = [
  [
    'truncates every response without Content-Length',
    { name: 'unframed', after: 20_000, times: ALWAYS },
    { Media: 'broken' },
  ],
  ['is gone', { name: 'status', status: 404, times: ALWAYS }, everywhere('404')],
  ['refuses', { name: 'status', status: 403, times: ALWAYS }, everywhere('502')],
  ['is deleted', { name: 'status', status: 403, times: ALWAYS }, everywhere('404'), { again: 'gone' }],
  ['lost the format', { name: 'status', status: 403, times: ALWAYS }, everywhere('404'), { again: 'other formats' }],
  ['answers 500', { name: 'status', status: 500, times: ALWAYS }, everywhere('502')],
  ['drops every response at once', { name: 'drop', after: 0, times: ALWAYS }, everywhere('502')],
  ['stalls in every response', { name: 'stall', after: 0, times: ALWAYS }, everywhere('502')],
  ['never sends the requested range', { name: 'wrong-range', times: ALWAYS }, { ...onFiles('502'), HLS: 'right' }],
  ['applies a content coding', { name: 'encoded' }, { ...onFiles('415'), HLS: '502' }],
  ['redirects to a private address', { name: 'redirect', location: 'http://127.0.0.1:1/' }, everywhere('404')],
];

describe('upstream from the start', () => {
  it.each(cells([...MENDED, ...DEAD]))('$name: $outcome on $route', async ({ route, outcome, ...cell }) => {
    expect(await fixture.fromTheStart(`${route}-short`, cell)).toBe(outcome);
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

  /** A digest of the packets of each track, whatever file they are in. */
  const packetsOf = (bytes: Buffer) =>
    withTemporaryFolder(async (folder) => {
      const file = join(folder, 'muxed.mp4');
      await writeFile(file, bytes);
      const copy = ['-map', '0', '-c', 'copy', '-f', 'streamhash', '-'];
      return (await runProgram('ffmpeg', ['-nostdin', '-v', 'error', '-i', file, ...copy])).output;
    });

  it('is muxed by FFmpeg on Combined into the same packets', async () => {
    const url = await fixture.there().stream('Combined-short');
    fixture.there().site.arm(UNSIZED);
    const { status, body } = await sendRequest(url);
    expect(status).toBe(200);
    const packets = await packetsOf(body);
    expect(packets).toMatch(/^0,v,SHA256=\w{64}\n1,a,SHA256=\w{64}\n$/);
    expect(packets).toBe(await packetsOf(await fixture.rightOf('Combined-short')));
  });
});
