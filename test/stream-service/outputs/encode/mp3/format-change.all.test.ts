import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FfmpegFailed } from '../../../../../stream-service/ffmpeg/run-ffmpeg.ts';
import { madeBy } from '../../../../origin/media.ts';
import { melody } from '../../../tones.ts';
import { fileSource, readRange, resourceOf, startMp3, track } from './fixture.ts';

const tone = (name: string, height: number, rate: number, channels: number): string[] => [
  ...['-f', 'lavfi', '-i', `sine=${height}:r=${rate}:d=8`, '-ac', String(channels), '-c:a', 'aac', `${name}.aac`],
];

const folder = await madeBy([
  tone('first', 400, 44_100, 2),
  tone('rate', 800, 48_000, 2),
  tone('mono', 800, 44_100, 1),
]);
const mp3 = await startMp3();

const joined = async (name: string) =>
  Buffer.concat(await Promise.all(['first', name].map((each) => readFile(join(folder, `${each}.aac`)))));
const resource = resourceOf({ durationSeconds: 16 });

describe('MP3 conversion of audio whose format changes midway', () => {
  it.each(['rate', 'mono'])('fails where the position of samples would be wrong (%s)', async (name) => {
    const source = fileSource(await joined(name));
    await expect(readRange(await mp3.open(resource, track, source), 0)).rejects.toThrow(FfmpegFailed);
  });

  it('continues when no size was promised', async () => {
    const source = fileSource(await joined('mono'), { sized: false });
    expect(await melody(await readRange(await mp3.open(resource, track, source), 0))).toMatch(/^400×8 800×8/);
  });
});
