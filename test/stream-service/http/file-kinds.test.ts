import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { madeFiles } from '../../origin/media.ts';
import { probeBody } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { mediaKey, resourceOf, startService, trackOf } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const SECONDS = 4;
const SOUND = ['-f', 'lavfi', '-i', `sine=400:r=48000:d=${SECONDS}`];
const PICTURE = ['-f', 'lavfi', '-i', `testsrc2=s=64x48:r=10:d=${SECONDS}`];
const FILES = {
  'sound.au': SOUND,
  'film.wmv': [...PICTURE, ...SOUND],
  'film.avi': [...PICTURE, ...SOUND, '-c:v', 'msmpeg4'],
  'tail.mov': [...PICTURE, ...SOUND, '-c:v', 'mpeg4', '-c:a', 'aac'],
};

describe('files of other kinds', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await madeFiles(FILES);
  });

  async function serve(name: keyof typeof FILES, traits: Partial<Track>, options?: Parameters<typeof fileSource>[1]) {
    const bytes = await readFile(join(folder, name));
    const track = trackOf('video', { container: name.split('.')[1], ...traits });
    const service = await startService(resourceOf([track]), { video: fileSource(bytes, options) });
    return {
      bytes,
      get: (route: string, query = '') =>
        sendRequest(`${service.url}/api/Stream/${route}/${mediaKey('video')}${query}`),
    };
  }

  it('converts AU to MP3', async () => {
    const { get } = await serve('sound.au', { video: null, audio: {} });
    const { status, body } = await get('Media', '?format=mp3');
    expect(status).toBe(200);
    expect((await probeBody(body, '.mp3')).codecs).toEqual(['mp3']);
  });

  it('sends WMV as it is by Combined', async () => {
    const { get, bytes } = await serve('film.wmv', { video: {}, audio: {} });
    const expected = Buffer.from(bytes);
    const { status, body } = await get('Combined');
    expect([status, body.equals(expected)]).toEqual([200, true]);
  });

  it('says that MP4 cannot hold what only FFmpeg tells of an AVI', async () => {
    const { get } = await serve('film.avi', { video: {}, audio: {} });
    const { status, body } = await get('Combined');
    expect([status, JSON.parse(body.toString()).detail]).toEqual([415, 'MP4 cannot hold the codecs of this source.']);
  });

  it.each([
    ['Media', '?format=mp3'],
    ['Combined', ''],
  ])('says that %s%s needs the index of a file, which is at its end', async (route, query) => {
    const { get } = await serve('tail.mov', {}, { sized: false });
    const { status, body } = await get(route, query);
    const detail = 'The index of the file is at its end, and its source sends it without ranges.';
    expect([status, JSON.parse(body.toString()).detail]).toEqual([415, detail]);
  });
});
