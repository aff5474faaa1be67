import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../layers/contract/index.ts';
import { runningFfmpegs } from '../../../stream-service/ffmpeg.ts';
import { firstBytes } from '../../../stream-service/first-bytes.ts';
import { createLoopback, type Loopback } from '../../../stream-service/loopback.ts';
import { noMeter } from '../../../stream-service/meter.ts';
import { createMux } from '../../../stream-service/mp4/mux.ts';
import { combinedPlan, remuxPlan } from '../../../stream-service/mp4/mux-plan.ts';
import type { Source } from '../../../stream-service/source/source.ts';
import { inspect, runProgram } from '../../support/media-tools.ts';
import { audioTrack, ffmpeg, mortalSource, trackOf, until } from '../harness.ts';
import { fileSource } from '../mp3/harness.ts';

const VIDEO = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=10'];
const SOUND = ['-f', 'lavfi', '-i', 'sine=sample_rate=48000'];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  'video.mp4': [...VIDEO, '-t', '6', ...H264, '-g', '20', '-movflags', '+faststart'],
  'one-keyframe.mp4': [...VIDEO, '-t', '60', ...H264, '-g', '10000', '-sc_threshold', '0', '-movflags', '+faststart'],
  'sound.m4a': [...SOUND, '-t', '60', '-c:a', 'aac', '-movflags', '+faststart'],
  'ac3.mp4': [...SOUND, '-t', '6', '-c:a', 'ac3'],
  'eac3.mp4': [...SOUND, '-t', '6', '-c:a', 'eac3'],
  'ac3.ts': [...VIDEO, ...SOUND, '-t', '6', ...H264, '-c:a', 'ac3'],
};

let folder: string;
let loopback: Loopback;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reelay-test-'));
  for (const [name, args] of Object.entries(RECIPES)) {
    const { code, output } = await runProgram('ffmpeg', ['-nostdin', '-v', 'error', ...args, join(folder, name)]);
    expect(code, output).toBe(0);
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  loopback = await createLoopback();
});
afterEach(async () => {
  await loopback.close();
  expect(runningFfmpegs()).toBe(0);
});

const load = async (file: string) => fileSource(await readFile(join(folder, file)));
const mux = (sources: Source[], plan = combinedPlan(audioTrack()), durationSeconds: number | undefined = 6) =>
  createMux({ loopback, admission: { acquireFfmpeg: () => () => undefined }, meter: noMeter, log: silentLog })(ffmpeg, {
    sources,
    plan,
    durationSeconds,
  });

describe('muxing by FFmpeg', () => {
  it.each(['ac3', 'eac3'])('copies %s, whose header needs its frames', async (codec) => {
    const body = await buffer(mux([await load('video.mp4'), await load(`${codec}.mp4`)]));
    const probed = await inspect(body, '.mp4');
    expect(probed.codecs).toEqual(['h264', codec]);
    expect(probed.durationSeconds).toBeCloseTo(6, 1);
    expect(probed.complaints).toBe('');
  });

  it('copies AC-3 out of segments', async () => {
    const track = trackOf('x', { delivery: 'hls', audio: { codec: 'ac-3' } });
    const probed = await inspect(await buffer(mux([await load('ac3.ts')], remuxPlan(track))), '.mp4');
    expect(probed.codecs).toEqual(['h264', 'ac3']);
    expect(probed.durationSeconds).toBeCloseTo(6, 1);
  });

  it('sends the beginning of a video with one keyframe long before its end is there', async () => {
    const video = mortalSource(await load('one-keyframe.mp4'), 1_000_000);
    const body = mux([video, await load('sound.m4a')], undefined, 60);
    await firstBytes(body);
    expect(video.size).toBeGreaterThan(1_500_000);
    body.destroy();
    video.die();
    await until(() => runningFfmpegs() === 0);
  });
});
