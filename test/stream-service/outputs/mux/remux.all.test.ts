import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '@reelay/source';
import { afterEach, describe, expect, it } from 'vitest';
import type { Track } from '../../../../core/state/resource.ts';
import { runningFfmpegs } from '../../../../stream-service/ffmpeg/run-ffmpeg.ts';
import { ensureMedia } from '../../../origin/media.ts';
import { probeBody } from '../../../support/media-tools.ts';
import { sendRequest, statusOrBroken } from '../../../support/request.ts';
import { resourceOf, type Service, startService, trackOf } from '../../fixture.ts';
import { packetTimes } from '../../tones.ts';
import { segmentedSource, segmentsOf } from '../encode/mp3/fixture.ts';

const media = await ensureMedia();
let service: Service | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
  expect(runningFfmpegs()).toBe(0);
});

async function start(source: Source, traits: Partial<Track> = {}): Promise<string> {
  const track = trackOf('hls', { delivery: 'hls', ...traits });
  service = await startService(resourceOf([track], { durationSeconds: 6 }), { hls: source });
  return service.media('hls');
}

const TO_END = Buffer.from('\0\0\0\0mdat');

describe('segmented rendition', () => {
  it('sends codecs that MP4 does not support as WebM', async () => {
    const source = segmentsOf(await readFile(join(media, 'clip.webm')));
    const { headers, body } = await sendRequest(
      await start(source, { video: { codec: 'vp8' }, audio: { codec: 'vorbis' } }),
    );
    expect(headers['content-type']).toBe('video/webm');
    expect(headers['content-disposition']).toContain('.webm');
    expect((await probeBody(body, '.webm')).format).toContain('webm');
  });

  it('breaks the connection when FFmpeg ends before what the list says', async () => {
    const source = await segmentedSource(join(media, 'hls/fmp4/index.m3u8'));
    const read = async (minSeconds: number, cut: number) => {
      // A box that extends to the end takes in what follows.
      const cutAt = (bytes: Buffer) => (bytes.indexOf('moof') > 0 && cut-- === 0 ? TO_END : bytes);
      const readAll = () => source.readAll().map(cutAt);
      return statusOrBroken(sendRequest(await start({ ...source, minSeconds, readAll })));
    };
    const { durationSeconds = 0 } = source;
    expect(await read(durationSeconds * 0.9, Number.POSITIVE_INFINITY)).toBe(200);
    expect(await read(durationSeconds * 0.9, 1)).toBe('broken');
  });
});

it('keeps the timestamps after EXT-X-GAP', async () => {
  // Of fifteen segments of 2.5 s the middle seven are not there.
  const names = [0, 1, 2, 3, 4, 12, 13, 14];
  const bytes = Buffer.concat(
    await Promise.all(names.map((name) => readFile(join(media, 'hls', 'long', `${name}.ts`)))),
  );
  const url = await start({ ...segmentsOf(bytes), durationSeconds: 37.5, gapSeconds: 17.5 });
  const times = await packetTimes((await sendRequest(url)).body, 'v');
  const jumps = times.map((time, index) => time - (times[index - 1] ?? time));
  expect(jumps.filter((seconds) => seconds > 1).map(Math.round)).toEqual([18]);
  expect(times.length).toBeGreaterThan(100);
});
