import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packDashSegments } from '@reelay/seekable-media/dash';
import { describe, expect, it } from 'vitest';
import { createFlvParts } from '../../../packages/source/src/segmented/flv-parts.ts';
import { madeFiles } from '../../origin/media.ts';
import { sendRequest, statusOrBroken } from '../../support/request.ts';
import { resourceOf, startService, trackOf } from '../fixture.ts';
import { melody, packetTimes } from '../tones.ts';
import { startUpstream } from './upstream.ts';

const SECONDS = 6;
const part = (tone: number, ...codecs: string[]): string[] => [
  ...['-f', 'lavfi', '-i', `testsrc=s=64x48:r=10:d=${SECONDS}`],
  ...['-f', 'lavfi', '-i', `sine=${tone}:r=44100:d=${SECONDS}`, ...codecs],
];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20', '-c:a', 'aac'];

const folder = await madeFiles({
  'low.flv': part(400, ...H264),
  'high.flv': part(800, ...H264),
  'other.flv': part(800, ...H264, '-s', '96x48'),
  'old.flv': part(400, '-c:v', 'flv', '-c:a', 'libmp3lame'),
  'mp3.flv': part(400, ...H264, '-c:a', 'libmp3lame'),
});
const upstream = await startUpstream();
upstream.use(async (request, response) => {
  response.end(await readFile(join(folder, (request.url ?? '').slice(1))));
});

/** The address of a rendition in parts. */
async function serve(...names: readonly string[]): Promise<string> {
  const fragments = names.map((name) => ({ url: `${upstream.origin}/${name}.flv`, seconds: SECONDS }));
  const track = trackOf('f', {
    delivery: 'dash',
    container: 'flv',
    fragments: packDashSegments(fragments),
    url: fragments[0]?.url ?? '',
    video: {},
    audio: {},
  });
  const resource = resourceOf([track], { durationSeconds: names.length * SECONDS });
  const service = await startService(resource, { f: upstream.reader() });
  return service.media('f');
}

describe('FLV in several parts', () => {
  it('is joined to one MP4 with all packets, in order and without gaps', async () => {
    const { status, headers, body } = await sendRequest(await serve('low', 'high', 'low'));
    expect([status, headers['content-type']]).toEqual([200, 'video/mp4']);
    expect(await melody(body)).toBe('400×6 800×6 400×6');
    const pictures = await packetTimes(body, 'v');
    expect(pictures).toHaveLength(180);
    const steps = pictures.slice(1).map((time, index) => time - (pictures[index] ?? 0));
    expect(Math.max(...steps)).toBeLessThan(0.2);
    expect(pictures.at(-1)).toBeCloseTo(17.9, 0);
  });

  it('converts to MP3 and WAV of known length, from the beginning', async () => {
    const url = await serve('low', 'high');
    for (const format of ['mp3', 'wav']) {
      const { status, headers, body } = await sendRequest(`${url}?format=${format}`, {
        headers: { range: 'bytes=9-' },
      });
      expect([status, headers['accept-ranges'], headers['content-length']]).toEqual([200, 'none', String(body.length)]);
      expect(await melody(body)).toBe('400×6 800×6');
    }
    expect((await sendRequest(`${url}?format=mp3&start=5`)).status).toBe(400);
  });

  it.each(['old', 'mp3'])('is refused with 415 where its codecs are others: %s', async (name) => {
    const { status, body } = await sendRequest(await serve(name, name));
    expect(JSON.parse(body.toString())).toMatchObject({
      type: '/problems/unsupported-rendition',
      status: 415,
      detail: expect.stringContaining('H.264 and AAC'),
    });
    expect(status).toBe(415);
  });

  it('fails where the encoding changes, instead of ending early', async () => {
    const url = await serve('low', 'other');
    const outcome = await statusOrBroken(sendRequest(url));
    expect(['broken', 502]).toContain(outcome);
  });
});

describe('createFlvParts', () => {
  const joined = (files: readonly Buffer[], chunkBytes: number): Buffer => {
    const parts = createFlvParts();
    const out = files.flatMap((file, index) => {
      const filter = parts.segment(index === 0 ? 0 : undefined);
      const chunks = Array.from({ length: Math.ceil(file.length / chunkBytes) }, (_, at) =>
        filter.update(Buffer.from(file.subarray(at * chunkBytes, (at + 1) * chunkBytes))),
      );
      return [...chunks, filter.final()];
    });
    return Buffer.concat(out);
  };

  it('has the same output for chunks of any size', async () => {
    const file = await readFile(join(folder, 'low.flv'));
    const whole = joined([file, file], file.length);
    for (const size of [97, 4096]) expect(joined([file, file], size).equals(whole)).toBe(true);
  });

  it('fails for what is no FLV, and for a part that ends within a tag', async () => {
    const file = await readFile(join(folder, 'low.flv'));
    expect(() => joined([Buffer.from('<html></html>')], 5)).toThrow('not FLV');
    expect(() => joined([file.subarray(0, -3)], 1000)).toThrow('ends within a tag');
  });
});
