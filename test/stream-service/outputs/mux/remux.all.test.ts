import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SegmentedSource, Source } from '@reelay/source';
import { afterEach, describe, expect, it } from 'vitest';
import type { Track } from '../../../../core/state/resource.ts';
import { runningFfmpegs } from '../../../../stream-service/ffmpeg/run-ffmpeg.ts';
import { ensureMedia } from '../../../origin/media.ts';
import { probeBody, runProgram, withTemporaryFolder } from '../../../support/media-tools.ts';
import { sendRequest, statusOrBroken } from '../../../support/request.ts';
import { resourceOf, type Service, startService, trackOf } from '../../fixture.ts';
import { fileSource, segmentedSource } from '../encode/mp3/fixture.ts';

const media = await ensureMedia();
let service: Service | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
  expect(runningFfmpegs()).toBe(0);
});

async function start(source: Source, traits: Partial<Track> = {}, options = {}): Promise<string> {
  const track = trackOf('hls', { delivery: 'hls', ...traits });
  service = await startService(resourceOf([track], { durationSeconds: 6 }), { hls: source }, options);
  return service.media('hls');
}
const hls = (name: string, options = {}) => segmentedSource(join(media, 'hls', name, 'index.m3u8'), options);

const TO_END = Buffer.from('\0\0\0\0mdat');

describe('segmented rendition', () => {
  it('sends codecs that MP4 does not support as WebM', async () => {
    const file = await readFile(join(media, 'clip.webm'));
    const source: Source = {
      needsRemux: true,
      size: undefined,
      durationSeconds: 6,
      readAll: () => fileSource(file).read(0),
      close: () => undefined,
    };
    const { headers, body } = await sendRequest(
      await start(source, { video: { codec: 'vp8' }, audio: { codec: 'vorbis' } }),
    );
    expect(headers['content-type']).toBe('video/webm');
    expect(headers['content-disposition']).toContain('.webm');
    expect((await probeBody(body, '.webm')).format).toContain('webm');
  });

  it('answers HEAD with the same headers without starting FFmpeg', async () => {
    const url = await start(await hls('ts'));
    const head = await sendRequest(url, { method: 'HEAD' });
    const { headers } = await sendRequest(url);
    for (const name of ['content-type', 'content-disposition', 'accept-ranges', 'cache-control']) {
      expect(head.headers[name]).toBe(headers[name]);
    }
  });

  it('breaks the connection when FFmpeg ends before what the list says', async () => {
    const source = await hls('fmp4');
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

describe('segmented rendition with EXT-X-GAP', () => {
  /** Of fifteen segments of 2.5 s the middle seven are not there. */
  const GAP_SECONDS = 18;
  const withGap = async (): Promise<SegmentedSource> => {
    const names = [0, 1, 2, 3, 4, 12, 13, 14];
    const files = names.map((name) => readFile(join(media, 'hls', 'long', `${name}.ts`)));
    const bytes = Buffer.concat(await Promise.all(files));
    return {
      needsRemux: true,
      size: undefined,
      durationSeconds: 37.5,
      gapSeconds: 17.5,
      readAll: () => fileSource(bytes).read(0),
      close: () => undefined,
    };
  };

  it('keeps the timestamps after the gap', async () => {
    const { body } = await sendRequest(await start(await withGap()));
    const times = await withTemporaryFolder(async (folder) => {
      const file = join(folder, 'gap.mp4');
      await writeFile(file, body);
      const pictures = ['-select_streams', 'v', '-show_entries', 'packet=pts_time', '-of', 'csv=p=0'];
      return (await runProgram('ffprobe', ['-v', 'error', ...pictures, file])).output
        .split('\n')
        .filter(Boolean)
        .map(Number);
    });
    const jumps = times.map((time, index) => time - (times[index - 1] ?? time));
    expect(jumps.filter((seconds) => seconds > 1).map(Math.round)).toEqual([GAP_SECONDS]);
    expect(times.length).toBeGreaterThan(100);
  });
});
