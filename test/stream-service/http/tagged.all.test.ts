import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { crc32, deflateSync } from 'node:zlib';
import type { Source } from '@reelay/source';
import { beforeAll, describe, expect, it } from 'vitest';
import { mp3Frames } from '../../../core/conversions/conversion.ts';
import { UpstreamError } from '../../../core/errors/index.ts';
import type { Resource } from '../../../core/state/resource.ts';
import { id3Tag } from '../../../packages/seekable-media/src/tags/id3.ts';
import type { OpenSource } from '../../../stream-service/source/open-source.ts';
import { probe, runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { resourceOf, startService, trackOf } from '../fixture.ts';
import { encodedSound } from '../outputs/encode/mp3/encoded-sound.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import { itPlaysInChromium } from '../outputs/layout/player.ts';

const SECONDS = 20;
const TAG_BYTES = 64 * 1024;
/** Of tests of the tag alone. */
const SHORT_SECONDS = 2;
const SHORT_BYTES = TAG_BYTES + (1 + mp3Frames(SHORT_SECONDS)) * 576;
const PLAIN_TAG_BYTES = id3Tag({ title: 'A clip', artist: 'Someone' }).length;
const track = trackOf('sound', { video: null, container: 'm4a' });
const tagged: Partial<Resource> = {
  durationSeconds: SECONDS,
  coverUrl: 'https://site.example/cover.png',
  album: 'A list',
  trackNumber: 7,
  details: { uploadDate: '2026-11-22' },
};

/** A PNG file whose header declares these dimensions. */
function png(width: number, height: number, data = deflateSync(Buffer.alloc(height * (width * 3 + 1), 90))): Buffer {
  const chunk = (type: string, content: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(content.length);
    body.copy(frame, 4);
    frame.writeUInt32BE(crc32(body), 4 + body.length);
    return frame;
  };
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const magic = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([magic, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

describe('an MP3 conversion with ?tags=true', () => {
  let sound: Buffer;
  let at: Awaited<ReturnType<typeof start>>;
  let url: string;
  let whole: Buffer;
  /** How often the cover was. */
  let opened = 0;

  /** The addresses of a process. */
  async function start(cover: Source | OpenSource, traits: Partial<Resource> = {}, attachments?: Map<string, Buffer>) {
    const resource = resourceOf([track], { ...tagged, ...traits });
    const service = await startService(resource, { sound: fileSource(sound), cover }, { isPeeked: true, attachments });
    return (query = 'tags=true') => `${service.media('sound')}?format=mp3&${query}`;
  }

  beforeAll(async () => {
    sound = await readFile(await encodedSound('sound.m4a', SECONDS, ['-c:a', 'aac']));
    at = await start(async () => {
      opened += 1;
      return fileSource(png(640, 360));
    });
    url = at();
  });

  it('announces its exact length before its first byte, has the same bytes for any range, and reads the cover once', async () => {
    const before = await sendRequest(url, { method: 'HEAD' });
    expect(before.headers['content-length']).toBe(String(TAG_BYTES + (1 + mp3Frames(SECONDS)) * 576));
    const edges = [[TAG_BYTES - 10, TAG_BYTES + 10] as const, [TAG_BYTES, TAG_BYTES] as const];
    whole = (await expectSeekable(url, { edges })).body;
    expect([whole.length, opened]).toEqual([TAG_BYTES + (1 + mp3Frames(SECONDS)) * 576, 1]);
  });

  it('has the frames of the untagged conversion, whose bytes stay as they were', async () => {
    const { headers, body } = await sendRequest(at(''));
    expect(body.subarray(PLAIN_TAG_BYTES).equals(whole.subarray(TAG_BYTES))).toBe(true);
    expect(body.subarray(0, PLAIN_TAG_BYTES).equals(id3Tag({ title: 'A clip', artist: 'Someone' }))).toBe(true);
    expect(headers.etag).not.toBe((await sendRequest(url, { method: 'HEAD' })).headers.etag);
    expect((await sendRequest(at('tags=false'))).headers.etag).toBe(headers.etag);
  });

  it('has tags and a cover that FFmpeg and mpv read', async () => {
    await withTemporaryFolder(async (folder) => {
      const file = join(folder, 'tagged.mp3');
      await writeFile(file, whole);
      const { tags, streams, durationSeconds } = await probe(file);
      expect(tags).toMatchObject({
        title: 'A clip',
        artist: 'Someone',
        album: 'A list',
        track: '7',
        date: '2026-11-22',
        comment: 'https://site.example/watch',
      });
      expect(streams.map(({ codec, height }) => [codec, height])).toEqual([
        ['mp3', undefined],
        ['mjpeg', 281],
      ]);
      expect(durationSeconds).toBeCloseTo(SECONDS, 0);
      const mpv = await runProgram('mpv', [
        '--no-config',
        '--vo=null',
        '--ao=null',
        '--frames=1',
        '--length=0.1',
        file,
      ]);
      expect(mpv.output).toMatch(/Title: A clip/);
      expect(mpv.output).toMatch(/Album: A list/);
      expect(mpv.output).toMatch(/mjpeg 500x281/);
    });
  });

  itPlaysInChromium(() => url, SECONDS);

  it('stays the same on another host and after the picture has changed', async () => {
    const frozen = new Map<string, Buffer>();
    const short = { durationSeconds: SHORT_SECONDS };
    const [one, other] = [
      await start(fileSource(png(200, 200)), short, frozen),
      await start(fileSource(png(300, 100)), short, frozen),
    ];
    const [a, b] = await Promise.all([sendRequest(one()), sendRequest(other())]);
    expect(a.headers.etag).toBe(b.headers.etag);
    expect(a.body.equals(b.body)).toBe(true);
  });

  it('has clips and bit rates of its own', async () => {
    const clip = await sendRequest(at('tags=true&start=12&end=14.4'));
    expect(
      clip.body.subarray(TAG_BYTES + 576).equals(whole.subarray(TAG_BYTES + 501 * 576, TAG_BYTES + 602 * 576)),
    ).toBe(true);
    const small = await sendRequest(at('tags=true&bitrate=128'));
    expect(small.body.length).toBe(TAG_BYTES + (1 + mp3Frames(SECONDS)) * 384);
    expect(small.body.subarray(0, TAG_BYTES).equals(whole.subarray(0, TAG_BYTES))).toBe(true);
  });

  const endless = () =>
    Readable.from(
      Array.from({ length: 200 }, () => Buffer.alloc(65_536, 0xff)),
      { objectMode: false },
    );
  const noisy = Buffer.from(Array.from({ length: 100 * 301 }, (_, index) => (index * 2_654_435_761) >>> 24));
  it.each<[string, Source | OpenSource, traits?: Partial<Resource>]>([
    ['a page', fileSource(Buffer.from('<!doctype html><title>Sign in</title>'))],
    ['empty', fileSource(Buffer.alloc(0))],
    ['a vector picture', fileSource(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))],
    ['a playlist', fileSource(Buffer.from('#EXTM3U\nhttp://127.0.0.1/\n'))],
    ['truncated', fileSource(png(600, 600, deflateSync(noisy).subarray(0, 40)).subarray(0, 60))],
    ['of absurd dimensions', fileSource(png(60_000, 60_000, deflateSync(Buffer.alloc(1000))))],
    ['larger than 8 MB', { ...fileSource(Buffer.alloc(1)), size: undefined, read: endless }],
    ['on a dead host', async () => Promise.reject(new UpstreamError('Connection refused'))],
    ['not named', fileSource(png(1, 1)), { coverUrl: null, title: null, author: null }],
  ])('has no cover when it is %s', async (_, cover, traits) => {
    const faulty = await start(cover, { durationSeconds: SHORT_SECONDS, ...traits });
    const { status, body, headers } = await sendRequest(faulty());
    expect([status, body.length, headers['content-length']]).toEqual([200, SHORT_BYTES, String(SHORT_BYTES)]);
    expect(body.includes('APIC', 0, 'latin1')).toBe(false);
    expect(body.subarray(TAG_BYTES + 576).equals(whole.subarray(TAG_BYTES + 576, SHORT_BYTES))).toBe(true);
  });
});
