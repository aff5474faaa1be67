import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { mp4Tags } from '../../../packages/seekable-media/src/tags/mp4-tags.ts';
import { madeFile } from '../../origin/media.ts';
import { inspect, probeBody, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { expectUnsized, refusalOf, resourceOf, type Service, startService } from '../fixture.ts';
import { ffmpeg as encode } from '../outputs/encode/mp3/coded-sound.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import { encodeSources, FRAGMENTS, H264, OPUS } from './coded-media.ts';
import { detailsOf } from './probed-details.ts';

const SECONDS = 30;
const opusIn = (container: string) => ({ video: null, container, audio: { codec: 'opus' } });
/** Their pictures have key frames each two seconds. */
const FILM = [...H264, '-g', '20'];
const { tracks, sources, pathOf } = await encodeSources(SECONDS, {
  audio: [{ video: null, container: 'm4a' }, ['-vn', '-c:a', 'aac'], 'm4a'],
  both: [{}, ['-c:a', 'aac', ...FILM], 'mp4'],
  fragmented: [{}, ['-c:a', 'aac', ...FILM, ...FRAGMENTS], 'mp4'],
  unnamed: [{ audio: {} }, ['-c:a', 'mp3', ...FILM], 'mp4'],
  adts: [{ video: null, container: 'aac' }, ['-vn', '-c:a', 'aac'], 'aac'],
  opus: [opusIn('mp4'), ['-vn', ...OPUS], 'mp4'],
  opusInVideo: [{ audio: { codec: 'opus' } }, [...OPUS, ...FILM], 'mp4'],
  opusInFragments: [{ audio: { codec: 'opus' } }, [...OPUS, ...FILM, ...FRAGMENTS], 'mp4'],
  opusInWebm: [opusIn('webm'), ['-vn', ...OPUS], 'webm'],
  vorbis: [{ video: null, container: 'webm', audio: { codec: 'vorbis' } }, ['-vn', '-c:a', 'libvorbis'], 'webm'],
});

// Copies, clips, MP3 and WAV of every kind of source are in the matrix (test/stream-service/matrix).
describe('?format=', () => {
  let service: Service;
  beforeAll(async () => {
    const onePicture = ['-f', 'lavfi', '-i', 'testsrc=s=400x400', '-frames:v', '1'];
    const cover = fileSource(await readFile(await madeFile('cover.png', onePicture)));
    const resource = resourceOf(tracks, {
      durationSeconds: SECONDS,
      coverUrl: 'https://site.example/cover.png',
      album: 'A list',
      trackNumber: 300,
      details: { uploadDate: '2026-11-22' },
    });
    service = await startService(resource, { ...sources, cover }, { isPeeked: true });
  });

  const get = (formatId: string, query: string, headers: Record<string, string> = {}) =>
    sendRequest(`${service.media(formatId)}?${query}`, { headers });

  async function wholeOf(formatId: string, query: string, type: string): Promise<Buffer> {
    const { headers, body } = await expectSeekable(`${service.media(formatId)}?${query}`);
    expect(headers['content-type']).toBe(type);
    return body;
  }

  /** The samples that a decoder makes of a file. */
  const decoded = (file: string | Buffer): Promise<Buffer> =>
    withTemporaryFolder(async (folder) => {
      const input = typeof file === 'string' ? file : join(folder, 'in');
      if (typeof file !== 'string') await writeFile(input, file);
      await encode('-i', input, '-map', '0:a', '-f', 's16le', join(folder, 'out.pcm'));
      return readFile(join(folder, 'out.pcm'));
    });

  describe('wav', () => {
    it.each(['audio', 'vorbis'])('of %s has its exact length, ranges and duration', async (formatId) => {
      const body = await wholeOf(formatId, 'format=wav', 'audio/wav');
      expect(body.length).toBe(44 + SECONDS * 48_000 * 4);
      const { durationSeconds, codecs, complaints } = await inspect(body, '.wav');
      expect([durationSeconds, codecs, complaints]).toEqual([SECONDS, ['pcm_s16le'], '']);
      const { headers } = await get(formatId, 'format=WAV', { range: 'bytes=0-0' });
      expect(headers['content-disposition']).toContain('.wav"');
    });

    it('is the same with ?tags=true, for which no cover is fetched', async () => {
      const [plain, tagged] = await Promise.all([get('audio', 'format=wav'), get('audio', 'format=wav&tags=true')]);
      expect(tagged.body.equals(plain.body)).toBe(true);
      expect(service.attachments.size).toBe(0);
    });

    it('has clips with a header of their own', async () => {
      const whole = (await get('audio', 'format=wav')).body;
      const { body } = await get('audio', 'format=wav&start=12&end=26.4');
      expect(body.length).toBe(44 + 14.4 * 48_000 * 4);
      expect(body.subarray(44).equals(whole.subarray(44 + 12 * 192_000, 44 + 26.4 * 192_000))).toBe(true);
      expect((await probeBody(body, '.wav')).durationSeconds).toBeCloseTo(14.4, 3);
      const rest = await get('audio', 'format=wav&start=29.99');
      expect(rest.body.subarray(44).equals(whole.subarray(44 + 1249 * 4608))).toBe(true);
    });
  });

  describe('m4a', () => {
    it('of AAC outside of MP4 is sent from the beginning', async () => {
      const url = `${service.media('adts')}?format=m4a`;
      const { headers, body } = await expectUnsized(url, { headers: { range: 'bytes=5-9' } });
      expect(headers['content-type']).toBe('audio/mp4');
      expect((await probeBody(body, '.m4a')).codecs).toEqual(['aac']);
    });
  });

  describe('opus', () => {
    it.each(['opus', 'opusInVideo', 'opusInFragments'])('of %s copies every packet of the audio', async (formatId) => {
      const body = await wholeOf(formatId, 'format=opus', 'audio/ogg');
      const { codecs, complaints } = await inspect(body, '.opus');
      expect([codecs, complaints]).toEqual([['opus'], '']);
      const [copy, original] = [await decoded(body), await decoded(pathOf(`${formatId}.mp4`))];
      // FFmpeg decodes the padding of the last packet, too, which the edit list of MP4 hides.
      expect(copy.length).toBe(SECONDS * 48_000 * 2);
      expect(copy.equals(original.subarray(0, copy.length))).toBe(true);
      expect((await detailsOf(body, '.opus')).tags).toMatchObject({ TITLE: 'A clip', ARTIST: 'Someone' });
    });

    it('has clips of their exact duration', async () => {
      const body = await wholeOf('opus', 'format=opus&start=10&end=15.5', 'audio/ogg');
      expect((await decoded(body)).length).toBe(5.5 * 48_000 * 2);
    });

    it.each(['opus', 'opusInWebm'])('of %s has tags and cover with ?tags=true', async (formatId) => {
      const { body, headers } = await get(formatId, 'format=opus&tags=true');
      expect([headers['accept-ranges'], body.length > 96 * 1024]).toEqual([
        formatId === 'opusInWebm' ? 'none' : 'bytes',
        true,
      ]);
      const { codecs, tags } = await detailsOf(body, '.opus');
      expect(codecs).toEqual(['opus', 'mjpeg']);
      expect(tags).toMatchObject({ ALBUM: 'A list', track: '300', DATE: '2026-11-22' });
      expect((await inspect(body, '.opus')).complaints).toBe('');
    });
  });

  it.each([
    ['both', 'format=m4a&tags=true', '.m4a', ['aac', 'mjpeg'], 'audio/mp4'],
    ['fragmented', 'tags=true&start=3&end=9', '.mp4', ['aac', 'h264', 'mjpeg'], 'video/mp4'],
  ])('%s?%s has tags and cover', async (formatId, query, extension, codecs, type) => {
    const body = await wholeOf(formatId, query, type);
    const probed = await inspect(body, extension);
    expect([probed.complaints, probed.codecs.toSorted()]).toEqual(['', codecs]);
    expect(probed.tags).toMatchObject({
      title: 'A clip',
      artist: 'Someone',
      album: 'A list',
      track: '300',
      date: '2026-11-22',
      comment: 'https://site.example/watch',
    });
    expect(body.equals((await get(formatId, query.replace('tags=true', ''))).body)).toBe(false);
  });

  it.each([
    ['m4a', 'M4A cannot be made of audio other than AAC.'],
    ['opus', 'Ogg cannot be made of audio other than Opus.'],
  ])('%s of a file whose header names another codec is 415 with a reason', async (format, reason) => {
    expect(await refusalOf(`${service.media('unnamed')}?format=${format}`)).toEqual([415, reason]);
  });
});

describe('mp4Tags', () => {
  it.each([
    [{ title: null, artist: null }, undefined],
    [
      { title: 'x'.repeat(9999), artist: '😀'.repeat(9999), link: 'l'.repeat(1000), date: '2026' },
      Buffer.alloc(58_000),
    ],
    [{ title: 'a', artist: 'b', link: 'l'.repeat(1001) }, Buffer.alloc(58_001)],
  ])('has 65,536 bytes', (text, cover) => expect(mp4Tags(text, cover)).toHaveLength(65_536));
});
