import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { mp4Tags } from '../../../packages/seekable-media/src/tags/mp4-tags.ts';
import { madeFile } from '../../origin/media.ts';
import { inspect, probe, probeBody, runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { resourceOf, type Service, startService, trackOf } from '../fixture.ts';
import { ffmpeg as encode } from '../outputs/encode/mp3/coded-sound.ts';
import { encodedSounds } from '../outputs/encode/mp3/encoded-sound.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const SECONDS = 30;
const silentVideo = ['-f', 'lavfi', '-i', `testsrc=s=64x48:r=10:d=${SECONDS}`];
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20', '-pix_fmt', 'yuv420p'];

const fragments = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof+global_sidx'];
const OPUS = { codec: 'opus' };
const opus = ['-c:a', 'libopus', '-b:a', '64k'];

/** Sources by format id, made of the same sound. */
const MEDIA: Readonly<Record<string, readonly [traits: Partial<Track>, args: readonly string[], extension: string]>> = {
  audio: [{ video: null, container: 'm4a' }, ['-vn', '-c:a', 'aac'], 'm4a'],
  video: [{ audio: null }, ['-an', ...h264], 'mp4'],
  both: [{}, ['-c:a', 'aac', ...h264], 'mp4'],
  fragmented: [{}, ['-c:a', 'aac', ...h264, ...fragments], 'mp4'],
  unnamed: [{ audio: {} }, ['-c:a', 'mp3', ...h264], 'mp4'],
  adts: [{ video: null, container: 'aac' }, ['-vn', '-c:a', 'aac'], 'aac'],
  opus: [{ video: null, container: 'mp4', audio: OPUS }, ['-vn', ...opus], 'mp4'],
  opusInVideo: [{ audio: OPUS }, [...opus, ...h264], 'mp4'],
  opusInFragments: [{ audio: OPUS }, [...opus, ...h264, ...fragments], 'mp4'],
  opusInWebm: [{ video: null, container: 'webm', audio: OPUS }, ['-vn', ...opus], 'webm'],
  opusInOgg: [{ video: null, container: 'opus', audio: OPUS }, ['-vn', ...opus], 'opus'],
  vorbis: [{ video: null, container: 'webm', audio: { codec: 'vorbis' } }, ['-vn', '-c:a', 'libvorbis'], 'webm'],
};
const tracks = Object.entries(MEDIA).map(([formatId, [traits]]) => trackOf(formatId, traits));

// Copies, clips, MP3 and WAV of every kind of source are in the matrix (test/stream-service/matrix).
describe('?format=', () => {
  const files = new Map<string, Buffer>();
  let service: Service;
  let cover: Buffer;

  beforeAll(async () => {
    const names = Object.entries(MEDIA).map(([formatId, [, args, extension]]) => ({
      formatId,
      name: `${formatId}.${extension}`,
      args,
    }));
    const outputs = Object.fromEntries(names.map(({ name, args }) => [name, args]));
    const folder = await encodedSounds(SECONDS, outputs, silentVideo);
    for (const { formatId, name } of names) files.set(formatId, await readFile(join(folder, name)));
    const onePicture = ['-f', 'lavfi', '-i', 'testsrc=s=400x400', '-frames:v', '1'];
    cover = await readFile(await madeFile('cover.png', onePicture));
    const resource = resourceOf(tracks, {
      durationSeconds: SECONDS,
      coverUrl: 'https://site.example/cover.png',
      album: 'A list',
      trackNumber: 300,
      details: { uploadDate: '2026-11-22' },
    });
    const pair = resourceOf(
      tracks.filter(({ formatId }) => ['video', 'audio'].includes(formatId)).toReversed(),
    ).renditions.at(-1);
    const renditions = pair ? [...resource.renditions, pair] : resource.renditions;
    const sources = Object.fromEntries([...files].map(([formatId, bytes]) => [formatId, fileSource(bytes)]));
    const options = { peekSource: async (_: unknown, { formatId }: Track) => fileSource(files.get(formatId) ?? cover) };
    service = await startService({ ...resource, renditions }, { ...sources, cover: fileSource(cover) }, options);
  }, 120_000);

  const get = (formatId: string, query: string, headers: Record<string, string> = {}) =>
    sendRequest(`${service.media(formatId)}?${query}`, { headers });

  async function wholeOf(formatId: string, query: string, type: string): Promise<Buffer> {
    const { headers, body } = await expectSeekable(`${service.media(formatId)}?${query}`);
    expect(headers['content-type']).toBe(type);
    return body;
  }

  /** The samples that a decoder makes of a file. */
  const decoded = (body: Buffer, extension: string) =>
    withTemporaryFolder(async (folder) => {
      await writeFile(join(folder, `in${extension}`), body);
      await encode('-i', join(folder, `in${extension}`), '-map', '0:a', '-f', 's16le', join(folder, 'out.pcm'));
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
      const { status, headers, body } = await get('adts', 'format=m4a', { range: 'bytes=5-9' });
      expect([status, headers['content-type'], headers['accept-ranges']]).toEqual([200, 'audio/mp4', 'none']);
      expect((await probeBody(body, '.m4a')).codecs).toEqual(['aac']);
    });
  });

  describe('opus', () => {
    const show = async (body: Buffer) =>
      withTemporaryFolder(async (folder) => {
        const file = join(folder, 'shown.opus');
        await writeFile(file, body);
        const entries = ['-show_entries', 'stream=codec_name:stream_tags'];
        const probed = await runProgram('ffprobe', ['-v', 'error', '-of', 'json', ...entries, file]);
        return JSON.parse(probed.output) as { streams: { codec_name: string; tags: Record<string, string> }[] };
      });

    it.each(['opus', 'opusInVideo', 'opusInFragments'])('of %s copies every packet of the audio', async (formatId) => {
      const body = await wholeOf(formatId, 'format=opus', 'audio/ogg');
      const { codecs, complaints } = await inspect(body, '.opus');
      expect([codecs, complaints]).toEqual([['opus'], '']);
      const [copy, original] = [await decoded(body, '.opus'), await decoded(files.get(formatId) ?? cover, '.mp4')];
      // FFmpeg decodes the padding of the last packet, too, which the edit list of MP4 hides.
      expect(copy.length).toBe(SECONDS * 48_000 * 2);
      expect(copy.equals(original.subarray(0, copy.length))).toBe(true);
      const { streams } = await show(body);
      expect(streams[0]?.tags).toMatchObject({ TITLE: 'A clip', ARTIST: 'Someone' });
    });

    it('has clips of their exact duration', async () => {
      const body = await wholeOf('opus', 'format=opus&start=10&end=15.5', 'audio/ogg');
      expect((await decoded(body, '.opus')).length).toBe(5.5 * 48_000 * 2);
    });

    it.each(['opus', 'opusInWebm'])('of %s has tags and cover with ?tags=true', async (formatId) => {
      const { body } = await get(formatId, 'format=opus&tags=true');
      const { streams } = await show(body);
      expect(streams.map(({ codec_name }) => codec_name)).toEqual(['opus', 'mjpeg']);
      const [{ tags } = { tags: {} }] = streams;
      expect(tags).toMatchObject({ ALBUM: 'A list', track: '300', DATE: '2026-11-22' });
      expect((await inspect(body, '.opus')).complaints).toBe('');
    });

    it('keeps its length and ranges with tags, whatever the cover is', async () => {
      const body = await wholeOf('opusInVideo', 'format=opus&tags=true', 'audio/ogg');
      expect(body.length).toBeGreaterThan(96 * 1024);
    });
  });

  describe('with ?tags=true', () => {
    const tags = {
      title: 'A clip',
      artist: 'Someone',
      album: 'A list',
      track: '300',
      date: '2026-11-22',
      comment: 'https://site.example/watch',
    };

    it.each([
      ['both', 'format=m4a&tags=true', '.m4a', ['aac', 'mjpeg'], 'audio/mp4'],
      ['fragmented', 'tags=true&start=3&end=9', '.mp4', ['h264', 'aac', 'mjpeg'], 'video/mp4'],
    ])('%s?%s has tags and cover', async (formatId, query, extension, codecs, type) => {
      const body = await wholeOf(formatId, query, type);
      await withTemporaryFolder(async (folder) => {
        const file = join(folder, `tagged${extension}`);
        await writeFile(file, body);
        const probed = await probe(file);
        expect(probed.tags).toMatchObject(tags);
        expect(probed.streams.map(({ codec }) => codec).toSorted()).toEqual(codecs.toSorted());
      });
      expect((await inspect(body, extension)).complaints).toBe('');
      expect(body.equals((await get(formatId, query.replace('tags=true', ''))).body)).toBe(false);
    });
  });

  it.each([
    ['m4a', 'M4A cannot be made of audio other than AAC.'],
    ['opus', 'Ogg cannot be made of audio other than Opus.'],
  ])('%s of a file whose header names another codec is 415 with a reason', async (format, reason) => {
    const { status, body } = await get('unnamed', `format=${format}`);
    expect([status, JSON.parse(body.toString()).detail]).toEqual([415, reason]);
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
