import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { muxNatively } from '../../../../../stream-service/outputs/mux/native/native-muxer.ts';
import type { FileSource } from '../../../../../stream-service/source/source.ts';
import { ensureMedia, madeFiles } from '../../../../origin/media.ts';
import { probe } from '../../../../support/media-tools.ts';
import { fileSource } from '../../encode/mp3/fixture.ts';
import { usePairMedia } from '../../layout/pair-fixture.ts';

const execute = promisify(execFile);
const never = new AbortController().signal;
const pairs = await usePairMedia();

/** Their names would select FFmpeg's muxer for iPods. */
const IN_MP4 = ['-f', 'mp4', '-movflags'];
/** Inputs that no other test has: fragments of other forms, one track of a file with both. */
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  'fragmented.mp4': ['-i', 'long-video.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+default_base_moof'],
  'fragmented.m4a': ['-i', 'long-audio.m4a', '-c', 'copy', '-frag_duration', '5000000', ...IN_MP4, 'empty_moov'],
  'dash.m4a': ['-i', 'long-audio.m4a', '-c', 'copy', '-frag_duration', '5000000', ...IN_MP4, 'dash+global_sidx'],
  'both.mp4': ['-i', 'ladder/both-720.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov'],
};
const made = await madeFiles(RECIPES, await ensureMedia());
const { durationSeconds: longSeconds } = await probe(pairs.pathOf('long-video.mp4'));

const place = (file: string) => (file in RECIPES ? join(made, file) : pairs.pathOf(file));
const load = async (file: string) => fileSource(await readFile(place(file)));
const mux = (video: FileSource, audio: FileSource, durationSeconds?: number) =>
  muxNatively(
    [
      { source: video, kind: 'vide', durationSeconds },
      { source: audio, kind: 'soun', durationSeconds },
    ],
    { signal: never },
  );

interface Packet {
  readonly stream: string;
  readonly dts: number;
  readonly pts: number;
  readonly rest: string;
}

/** Runs FFmpeg with outputs of packets. @returns their streams, times in seconds, sizes and digests, and FFmpeg's messages */
async function run(args: readonly string[]) {
  const { stdout, stderr } = await execute('ffmpeg', ['-nostdin', '-v', 'error', ...args], { maxBuffer: 1 << 28 });
  const base = new Map<string, number>();
  for (const [, stream, num, den] of stdout.matchAll(/#tb (\d+): (\d+)\/(\d+)/g)) {
    base.set(stream ?? '', Number(num) / Number(den));
  }
  const packets = stdout
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line): Packet => {
      const [stream = '', dts, pts, , size, digest] = line.split(',').map((field) => field.trim());
      const unit = base.get(stream) ?? 1;
      return { stream, dts: Number(dts) * unit, pts: Number(pts) * unit, rest: `${size} ${digest}` };
    });
  return { packets, messages: stderr };
}
const PACKETS = ['-c', 'copy', '-copyts', '-f', 'framemd5', '-'];

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
    ['long-video.mp4', 'long-audio.m4a', longSeconds],
    ['clip-tail.mp4', 'tone.m4a', 6],
    ['clip-tail.mp4', 'clip.mp4', 6],
    ['bframes.mp4', 'ladder/aac-128.m4a', 8],
    ['fragmented.mp4', 'fragmented.m4a', longSeconds],
    ['indexed.mp4', 'dash.m4a', longSeconds],
    ['fragmented.mp4', 'long-audio.m4a', longSeconds],
    ['both.mp4', 'both.mp4', 8],
  ])('muxes %s and %s into the packets that FFmpeg copies', async (video, audio, durationSeconds) => {
    const body = await buffer(await mux(await load(video), await load(audio), durationSeconds));
    const ours = join(pairs.folder, 'ours.mp4');
    await writeFile(ours, body);
    const decoded = ['-map', '0', '-f', 'null', '-'];
    const { packets: got, messages } = await run(['-threads', '1', '-i', ours, '-map', '0', ...PACKETS, ...decoded]);
    expect(messages).toBe('');
    const inputs = ['-i', place(video), '-i', place(audio)];
    const { packets: wanted } = await run([...inputs, '-map', '0:v:0', '-map', '1:a:0', ...PACKETS]);
    expect(wanted.length).toBeGreaterThan(100);
    for (const stream of ['0', '1']) expect(streamOf(got, stream)).toEqual(streamOf(wanted, stream));
    expect((await probe(ours)).durationSeconds).toBeCloseTo(durationSeconds, 1);
    const apart = (all: readonly Packet[]) =>
      (all.find(({ stream }) => stream === '0')?.pts ?? 0) - (all.find(({ stream }) => stream === '1')?.pts ?? 0);
    expect(apart(got)).toBeCloseTo(apart(wanted), 2);
  });
});
