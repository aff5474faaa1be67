import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { madeFiles } from '../../origin/media.ts';
import { inspect, packetsOf, probe, probeBody } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { mediaKey, refusalOf, resourceOf, startService, trackOf } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const SECONDS = 4;
const SOUND = ['-f', 'lavfi', '-i', `sine=400:r=48000:d=${SECONDS}`];
const PICTURE = ['-f', 'lavfi', '-i', `testsrc2=s=64x48:r=10:d=${SECONDS}`];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10', '-bf', '2', '-color_primaries', 'bt709'];
const FILES = {
  'sound.au': SOUND,
  'film.wmv': [...PICTURE, ...SOUND],
  'film.avi': [...PICTURE, ...SOUND, '-c:v', 'msmpeg4'],
  'film.mov': [...PICTURE, ...SOUND, ...H264, '-c:a', 'aac'],
  'fine.mov': [...PICTURE, ...SOUND, ...H264, '-c:a', 'aac', '-ar', '96000'],
  'pcm.mov': [...PICTURE, ...SOUND, ...H264, '-c:a', 'pcm_s16le'],
  'tail.mov': [...PICTURE, ...SOUND, '-c:v', 'mpeg4', '-c:a', 'aac'],
};

describe('files of other kinds', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await madeFiles(FILES);
  });

  async function serve(name: keyof typeof FILES, traits: Partial<Track>, options?: Parameters<typeof fileSource>[1]) {
    const read = () => readFile(join(folder, name));
    const track = trackOf('video', { container: name.split('.')[1], ...traits });
    // A reader owns the bytes.
    const service = await startService(resourceOf([track]), { video: async () => fileSource(await read(), options) });
    const urlOf = (route: string, query = '') => `${service.url}/api/Stream/${route}/${mediaKey('video')}${query}`;
    return { read, urlOf, get: (route: string, query?: string) => sendRequest(urlOf(route, query)) };
  }

  it('converts AU to MP3', async () => {
    const { get } = await serve('sound.au', { video: null, audio: {} });
    const { status, body } = await get('Media', '?format=mp3');
    expect(status).toBe(200);
    expect((await probeBody(body, '.mp3')).codecs).toEqual(['mp3']);
  });

  it('sends WMV as it is by Combined', async () => {
    const { get, read } = await serve('film.wmv', { video: {}, audio: {} });
    const { status, body } = await get('Combined');
    expect([status, body.equals(await read())]).toEqual([200, true]);
  });

  it('says that MP4 cannot hold what only FFmpeg tells of an AVI', async () => {
    const { urlOf } = await serve('film.avi', { video: {}, audio: {} });
    expect(await refusalOf(urlOf('Combined'))).toEqual([415, 'MP4 cannot hold the codecs of this source.']);
  });

  it.each([
    ['Media', '?format=mp3'],
    ['Combined', ''],
  ])('says that %s%s needs the index of a file, which is at its end', async (route, query) => {
    const { urlOf } = await serve('tail.mov', {}, { sized: false });
    const detail = 'The index of the file is at its end, and its source sends it without ranges.';
    expect(await refusalOf(urlOf(route, query))).toEqual([415, detail]);
  });

  describe.each(['film.mov', 'fine.mov'] as const)('%s', (name) => {
    const file = () => join(folder, name);

    it('is sent as it is, and by Combined as MP4 of the same packets', async () => {
      const { get, read } = await serve(name, {});
      expect((await get('Media')).body.equals(await read())).toBe(true);
      const { headers, body } = await get('Combined');
      expect(headers).toMatchObject({ 'content-type': 'video/mp4', 'content-length': String(body.length) });
      expect(headers).not.toHaveProperty('content-location');
      expect(body.toString('latin1', 4, 12)).toBe('ftypisom');
      expect(body.toString('latin1')).not.toMatch(/mhlr|alis|wave|nclc/);
      expect((await inspect(body, '.mp4')).complaints).toBe('');
      for (const side of ['v', 'a'] as const)
        expect(await packetsOf(body, side)).toEqual(await packetsOf(file(), side));
    });

    it('has clips with tags, its audio and a presentation', async () => {
      const { urlOf } = await serve(name, {});
      const clip = await expectSeekable(urlOf('Media', '?start=1&end=3&tags=true'));
      expect(clip.headers).toMatchObject({
        'content-type': 'video/mp4',
        'content-disposition': expect.stringContaining('(0-01_0-03).mp4'),
      });
      const { codecs, tags, durationSeconds, complaints } = await inspect(clip.body, '.mp4');
      expect([codecs, tags.title, Math.round(durationSeconds), complaints]).toEqual([['h264', 'aac'], 'A clip', 2, '']);
      const audio = await expectSeekable(urlOf('Media', '?format=m4a'));
      expect(await packetsOf(audio.body, 'a')).toEqual(await packetsOf(file(), 'a'));
      expect((await probe(`${urlOf('Hls')}/master.m3u8`)).codecs.toSorted()).toEqual(['aac', 'h264']);
    });
  });

  it('sends QuickTime with PCM as it is, without clips', async () => {
    const { get, read } = await serve('pcm.mov', { audio: { codec: 'pcm-s16' } });
    expect((await get('Combined')).body.equals(await read())).toBe(true);
    expect((await get('Media', '?start=1')).status).toBe(400);
  });
});
