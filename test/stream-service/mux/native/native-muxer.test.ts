import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { muxNatively } from '../../../../stream-service/mux/native/native-muxer.ts';
import type { FileSource } from '../../../../stream-service/source/source.ts';
import { ensureMedia, madeFiles } from '../../../origin/media.ts';
import { inspect, probe } from '../../../support/media-tools.ts';
import { fileSource } from '../../conversions/mp3/fixture.ts';

const run = promisify(execFile);
const never = new AbortController().signal;
let media: string;
let made: string;
let folder: string;

/** Their names would select FFmpeg's muxer for iPods. */
const IN_MP4 = ['-f', 'mp4', '-movflags'];
/** Inputs that the origin has not: fragmented, with B-frames, one track of a file with both. */
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  'bframes.mp4': [
    ...['-i', 'ladder/h264-720.mp4', '-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '3', '-b_strategy', '0'],
  ],
  'fragmented.mp4': ['-i', 'long-video.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+default_base_moof'],
  'fragmented.m4a': ['-i', 'long-audio.m4a', '-c', 'copy', '-frag_duration', '5000000', ...IN_MP4, 'empty_moov'],
  'dash.mp4': ['-i', 'long-video.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+dash+global_sidx'],
  'dash.m4a': ['-i', 'long-audio.m4a', '-c', 'copy', '-frag_duration', '5000000', ...IN_MP4, 'dash+global_sidx'],
  'both.mp4': ['-i', 'ladder/both-720.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov'],
};

beforeAll(async () => {
  media = await ensureMedia();
  made = await madeFiles(RECIPES, media);
  folder = await mkdtemp(join(tmpdir(), 'reelay-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const place = (file: string) => join(file in RECIPES ? made : media, file);
const load = async (file: string) => fileSource(await readFile(place(file)));
const mux = (video: FileSource, audio: FileSource, durationSeconds?: number) =>
  muxNatively(
    [
      { source: video, kind: 'vide', durationSeconds },
      { source: audio, kind: 'soun', durationSeconds },
    ],
    never,
  );

interface Packet {
  readonly stream: string;
  readonly dts: number;
  readonly pts: number;
  readonly rest: string;
}

/** Every packet: its stream, times in seconds, duration, size and digest. */
async function packets(args: readonly string[]): Promise<Packet[]> {
  const { stdout } = await run(
    'ffmpeg',
    ['-nostdin', '-v', 'error', ...args, '-c', 'copy', '-copyts', '-f', 'framemd5', '-'],
    { maxBuffer: 1 << 28 },
  );
  const base = new Map<string, number>();
  for (const [, stream, num, den] of stdout.matchAll(/#tb (\d+): (\d+)\/(\d+)/g)) {
    base.set(stream ?? '', Number(num) / Number(den));
  }
  return stdout
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => {
      const [stream = '', dts, pts, , size, digest] = line.split(',').map((field) => field.trim());
      const unit = base.get(stream) ?? 1;
      return { stream, dts: Number(dts) * unit, pts: Number(pts) * unit, rest: `${size} ${digest}` };
    });
}

/** Packets of one stream, times from its first packet. */
function streamOf(all: readonly Packet[], stream: string) {
  const mine = all.filter((packet) => packet.stream === stream);
  const first = mine[0]?.dts ?? 0;
  return mine.map(({ dts, pts, rest }) => `${(dts - first).toFixed(3)} ${(pts - first).toFixed(3)} ${rest}`);
}

describe('muxNatively', () => {
  it.each([
    ['ladder/h264-720.mp4', 'ladder/aac-128.m4a', 8],
    ['ladder/av1-180.mp4', 'ladder/aac-48.m4a', 8],
    ['long-video.mp4', 'long-audio.m4a', undefined],
    ['clip-tail.mp4', 'tone.m4a', 6],
    ['clip-tail.mp4', 'clip.mp4', 6],
    ['bframes.mp4', 'ladder/aac-128.m4a', 8],
    ['fragmented.mp4', 'fragmented.m4a', undefined],
    ['dash.mp4', 'dash.m4a', undefined],
    ['fragmented.mp4', 'long-audio.m4a', undefined],
    ['both.mp4', 'both.mp4', 8],
  ])('muxes %s and %s into the packets that FFmpeg copies', async (video, audio, seconds) => {
    const durationSeconds = seconds ?? (await probe(place('long-video.mp4'))).durationSeconds;
    const body = await buffer(await mux(await load(video), await load(audio), durationSeconds));
    const ours = join(folder, 'ours.mp4');
    await writeFile(ours, body);
    const got = await packets(['-i', ours, '-map', '0']);
    const wanted = await packets(['-i', place(video), '-i', place(audio), '-map', '0:v:0', '-map', '1:a:0']);
    expect(wanted.length).toBeGreaterThan(100);
    for (const stream of ['0', '1']) expect(streamOf(got, stream)).toEqual(streamOf(wanted, stream));
    const probed = await inspect(body, '.mp4');
    expect(probed.complaints).toBe('');
    expect(probed.durationSeconds).toBeCloseTo(durationSeconds, 1);
    const apart = (all: readonly Packet[]) =>
      (all.find(({ stream }) => stream === '0')?.pts ?? 0) - (all.find(({ stream }) => stream === '1')?.pts ?? 0);
    expect(apart(got)).toBeCloseTo(apart(wanted), 2);
  });
});
