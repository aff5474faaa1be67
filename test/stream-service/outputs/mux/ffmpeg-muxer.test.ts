import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { firstBytes, type Source } from '@reelay/source';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../core/log/index.ts';
import {
  createFfmpegInputServer,
  type FfmpegInputServer,
} from '../../../../stream-service/ffmpeg/ffmpeg-input-server.ts';
import { runningFfmpegs } from '../../../../stream-service/ffmpeg/run-ffmpeg.ts';
import { createMux } from '../../../../stream-service/outputs/mux/ffmpeg-muxer.ts';
import { selectPairFormat, selectRemuxFormat } from '../../../../stream-service/outputs/mux/mux-format.ts';
import { noopObserver } from '../../../../stream-service/sessions/stream-sessions.ts';
import { madeBy } from '../../../origin/media.ts';
import { inspect } from '../../../support/media-tools.ts';
import { audioTrack, failingSource, ffmpeg, trackOf, until, videoTrack } from '../../fixture.ts';
import { packetTimes } from '../../tones.ts';
import { fileSource, segmentsOf } from '../encode/mp3/fixture.ts';

const INPUTS = ['-f', 'lavfi', '-i', 'testsrc2=size=320x180:rate=10', '-f', 'lavfi', '-i', 'sine=sample_rate=48000'];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
const VP9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'];
/** Six seconds of the picture, of the sound, and of both. */
const VIDEO = ['-map', '0', '-t', '6'];
const SOUND = ['-map', '1', '-t', '6'];
const BOTH = ['-map', '0', '-map', '1', '-t', '6'];
const AAC = ['-c:a', 'aac'];
const FRONT = ['-movflags', '+faststart'];
const FRAGMENTS = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof'];
/** Options of each output. One run of FFmpeg makes them all. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  'video.mp4': [...VIDEO, ...H264, '-g', '20', ...FRONT],
  'one-keyframe.mp4': [...VIDEO, '-t', '60', ...H264, '-g', '10000', '-sc_threshold', '0', ...FRONT],
  'sound.m4a': [...SOUND, '-t', '60', ...AAC, ...FRONT],
  'ac3.mp4': [...SOUND, '-c:a', 'ac3'],
  'eac3.mp4': [...SOUND, '-c:a', 'eac3'],
  'video.webm': [...VIDEO, ...VP9, '-g', '20'],
  'late.m4a': [...SOUND, ...AAC, '-output_ts_offset', '1.5'],
  'at-6.ts': [...VIDEO, ...H264, '-g', '20', '-output_ts_offset', '5'],
  'sound-at-8.ts': [...SOUND, ...AAC, '-output_ts_offset', '6.5'],
  'sound-at-5.ts': [...SOUND, ...AAC, '-output_ts_offset', '3.5'],
  'sound-at-day.ts': [...SOUND, ...AAC, '-output_ts_offset', '80000'],
  'fragments.mp4': [...SOUND, ...AAC, ...FRAGMENTS],
  'sound.aac': [...SOUND, ...AAC],
  'silent.ts': [...VIDEO, ...H264],
  'mp3.ts': [...BOTH, ...H264, '-c:a', 'libmp3lame'],
  'aac.ts': [...BOTH, ...H264, ...AAC],
  'opus.mp4': [...BOTH, ...H264, '-c:a', 'libopus', ...FRAGMENTS],
  'ac3.ts': [...BOTH, ...H264, '-c:a', 'ac3'],
};

let folder: string;
let loopback: FfmpegInputServer;
beforeAll(async () => {
  folder = await madeBy([[...INPUTS, ...Object.entries(FILES).flatMap(([name, options]) => [...options, name])]]);
});
beforeEach(async () => {
  loopback = await createFfmpegInputServer();
});
afterEach(async () => {
  await loopback.close();
  expect(runningFfmpegs()).toBe(0);
});

const load = async (file: string) => fileSource(await read(file));
const mux = (
  sources: Source[],
  format = selectPairFormat({ tracks: [videoTrack(), audioTrack()] }),
  durationSeconds = 6,
) => {
  const admission = { acquireFfmpeg: () => () => undefined };
  const run = createMux({ loopback, admission, meter: noopObserver, log: silentLog });
  return run(ffmpeg, { sources, format, client: 'client', durationSeconds });
};

describe('createMux', () => {
  it.each(['ac3', 'eac3'])('copies %s, whose header depends on its frames', async (codec) => {
    const body = await buffer(mux([await load('video.mp4'), await load(`${codec}.mp4`)]));
    const probed = await inspect(body, '.mp4');
    expect(probed.codecs).toEqual(['h264', codec]);
    expect(probed.durationSeconds).toBeCloseTo(6, 1);
    expect(probed.complaints).toBe('');
  });

  it('sends fragments of a video with one keyframe before the source has ended', async () => {
    const video = failingSource(await load('one-keyframe.mp4'), 1_000_000);
    const body = mux([video, await load('sound.m4a')], undefined, 60);
    await firstBytes(body);
    expect(video.size).toBeGreaterThan(1_500_000);
    body.destroy();
    video.fail();
    await until(() => runningFfmpegs() === 0);
  });
});

const read = (file: string) => readFile(join(folder, file));
/** A file as the segments of a list. */
const segments = async (file: string) => segmentsOf(await read(file));

/** Seconds from where the video begins to where the sound does, as players see it. */
async function apart(body: Buffer): Promise<number> {
  const [[video = Number.NaN], [audio = Number.NaN]] = [await packetTimes(body, 'v'), await packetTimes(body, 'a')];
  expect(Math.min(video, audio)).toBeGreaterThan(-0.1);
  return audio - video;
}

describe('segments with unknown codecs', () => {
  const format = selectRemuxFormat(trackOf('x', { delivery: 'hls', video: {}, audio: {} }));

  it.each([
    ['silent.ts', ['h264']],
    ['sound-at-8.ts', ['aac']],
    ['aac.ts', ['h264', 'aac']],
    ['mp3.ts', ['h264', 'mp3']],
    ['ac3.ts', ['h264', 'ac3']],
    ['opus.mp4', ['h264', 'opus']],
  ])('are sent with the streams they have: %s', async (file, codecs) => {
    const probed = await inspect(await buffer(mux([await segments(file)], format)), '.mp4');
    expect(probed.codecs.toSorted()).toEqual(codecs.toSorted());
    expect(probed.complaints).toBe('');
  });

  it('fail without any stream', async () => {
    const nothing = segmentsOf(Buffer.from('no media at all '.repeat(1000)));
    await expect(buffer(mux([nothing], format))).rejects.toThrow('FFmpeg exited with');
  });

  it('fail without a stream whose codec is known', async () => {
    const heard = selectRemuxFormat(trackOf('x', { delivery: 'hls' }));
    await expect(buffer(mux([await segments('silent.ts')], heard))).rejects.toThrow('FFmpeg exited with');
  });
});

/** Fragments that begin 8 s later. */
function delayed(sound: Buffer): Buffer {
  for (let at = sound.indexOf('tfdt'); at > 0; at = sound.indexOf('tfdt', at + 4))
    sound.writeBigUInt64BE(sound.readBigUInt64BE(at + 8) + 8n * 48_000n, at + 8);
  return sound;
}

describe('video and audio with different start times', () => {
  const isHls = { delivery: 'hls' } as const;
  const ofLists = selectPairFormat({ tracks: [videoTrack(isHls), audioTrack(isHls)] });

  it.each<[string, string, (file: Buffer) => Buffer, number]>([
    ['later', 'sound-at-8.ts', (file) => file, 1.5],
    ['earlier, and nothing is cut off', 'sound-at-5.ts', (file) => file, -1.5],
    ['on a clock of its own, which is none to go by', 'sound-at-day.ts', (file) => file, 0],
    ['packed, without any clock', 'sound.aac', (file) => file, 0],
    ['of fragmented MP4 with MPEG-TS', 'fragments.mp4', delayed, 1.6],
  ])('keep their offset in segments: audio %s', async (_name, audio, change, seconds) => {
    const body = await buffer(mux([await segments('at-6.ts'), segmentsOf(change(await read(audio)))], ofLists));
    expect(await apart(body)).toBeCloseTo(seconds, 1);
    expect((await inspect(body, '.mp4')).complaints).toBe('');
  });

  it('stay apart as they are: WebM beside MP4', async () => {
    const format = selectPairFormat({ tracks: [videoTrack({ container: 'webm' }), audioTrack()] });
    const body = await buffer(mux([await load('video.webm'), await load('late.m4a')], format));
    expect(await apart(body)).toBeCloseTo(1.5, 1);
  });
});
