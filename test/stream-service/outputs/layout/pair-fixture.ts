import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { FileSource } from '@reelay/source';
import { ensureFolder, ensureMedia } from '../../../origin/media.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { fileSource } from '../encode/mp3/fixture.ts';

const run = promisify(execFile);

/** Files that the origin has not, made from its own. FFmpeg's arguments before the output. */
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  'indexed.mp4': ['-i', 'long-video.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+dash+global_sidx'],
  'indexed.m4a': [
    ...['-i', 'long-audio.m4a', '-c', 'copy', '-frag_duration', '5000000'],
    ...['-movflags', 'empty_moov+dash+global_sidx'],
  ],
  'coarse.mp4': [
    ...['-i', 'long-video.mp4', '-c', 'copy', '-frag_duration', '5000000'],
    ...['-movflags', 'empty_moov+dash+global_sidx'],
  ],
  'coarse.m4a': [
    ...['-i', 'long-audio.m4a', '-c', 'copy', '-frag_duration', '9984000'],
    ...['-movflags', 'empty_moov+dash+global_sidx'],
  ],
  'cd.m4a': [
    ...['-i', 'long-audio.m4a', '-ar', '44100', '-c:a', 'aac', '-frag_duration', '5000000'],
    ...['-movflags', 'empty_moov+dash+global_sidx'],
  ],
  // The index of FFmpeg does not say that each group after the first one is open.
  'open.mp4': [
    ...['-i', 'long-video.mp4', '-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '3', '-b_strategy', '0', '-g', '48'],
    ...['-x264-params', 'open-gop=1:scenecut=0', '-movflags', 'frag_keyframe+empty_moov+dash+global_sidx'],
  ],
  'absolute.mp4': ['-i', 'long-video.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+global_sidx'],
  'short-indexed.m4a': [
    ...['-i', 'ladder/aac-128.m4a', '-c', 'copy', '-frag_duration', '2000000'],
    ...['-movflags', 'empty_moov+dash+global_sidx'],
  ],
  'bframes.mp4': [
    ...['-i', 'ladder/h264-720.mp4', '-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '3', '-b_strategy', '0'],
    ...['-video_track_timescale', '90000', '-movie_timescale', '600'],
  ],
  'flac.mp4': ['-i', 'tone.flac', '-c', 'copy', '-strict', '-2'],
  'opus.mp4': ['-i', 'ladder/opus-96.webm', '-c', 'copy'],
  'ac3.mp4': ['-i', 'ladder/aac-128.m4a', '-c:a', 'ac3'],
  'mp3.mp4': ['-i', 'ladder/aac-128.m4a', '-c:a', 'libmp3lame'],
  'vp9.mp4': ['-i', 'ladder/vp9-360.webm', '-c', 'copy'],
  'hevc.mp4': ['-i', 'clip.mp4', '-an', '-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'],
  'muxed-indexed.mp4': [
    ...['-i', 'long.mp4', '-c', 'copy', '-frag_duration', '5000000'],
    ...['-movflags', 'frag_keyframe+empty_moov+dash+global_sidx'],
  ],
  'unindexed.mp4': ['-i', 'long-video.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+skip_trailer'],
  'listed.mp4': ['-i', 'long-video.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov'],
  'listed.m4a': ['-i', 'long-audio.m4a', '-c', 'copy', '-frag_duration', '5000000', '-movflags', 'empty_moov'],
  'unindexed-short.mp4': [
    ...['-i', 'ladder/h264-360.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+skip_trailer'],
  ],
  'chained-short.mp4': ['-i', 'ladder/h264-360.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+dash'],
  'chained-short.m4a': [
    ...['-i', 'ladder/aac-128.m4a', '-c', 'copy', '-frag_duration', '2000000', '-movflags', 'empty_moov+dash'],
  ],
  'partial-index.mp4': [
    ...['-i', 'ladder/h264-360.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+dash+global_sidx'],
  ],
  'two-tracks.mp4': [
    ...['-i', 'ladder/both-360.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+default_base_moof'],
  ],
  'long-video.webm': [
    ...['-i', 'long-video.mp4', '-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '100k'],
    ...['-g', '50', '-cues_to_front', '1'],
  ],
  // Clusters of ten seconds, as those of YouTube.
  'long-audio.webm': [
    ...['-i', 'long-audio.m4a', '-c:a', 'libopus', '-b:a', '64k'],
    ...['-cluster_time_limit', '10000', '-cluster_size_limit', '2000000', '-cues_to_front', '1'],
  ],
  'chained.mp4': ['-i', 'long-video.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+dash'],
};

/** Changed recipes create new files in another folder. */
const STAMP = createHash('sha256').update(JSON.stringify(RECIPES)).digest('hex').slice(0, 12);

/** The files of `RECIPES`, which are kept between runs, and a temporary folder for what the tests of a file write. */
export async function usePairMedia() {
  const media = await ensureMedia();
  const made = await ensureFolder(`${media}-pairs-${STAMP}`, (draft) => makeFiles(draft, media));
  const folder = await temporaryFolder();
  const pathOf = (file: string) => join(file in RECIPES ? made : media, file);
  return {
    folder,
    pathOf,
    load: async (file: string) => countingSource(await readFile(pathOf(file))),
  };
}

async function makeFiles(folder: string, media: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, args] of Object.entries(RECIPES)) {
    await run(
      'ffmpeg',
      ['-nostdin', '-v', 'error', ...args, '-f', extname(name).slice(1).replace('m4a', 'mp4'), join(folder, name)],
      { cwd: media },
    );
  }
  // FFmpeg does not count the `sidx` that it inserts.
  const absolute = join(folder, 'absolute.mp4');
  await writeFile(absolute, shiftBaseOffsets(await readFile(absolute)));
  const partial = join(folder, 'partial-index.mp4');
  await writeFile(partial, shortenIndex(await readFile(partial), 3));
}

export type PairMedia = Awaited<ReturnType<typeof usePairMedia>>;

/** A file in memory that records the ranges it was read by, and how many of their bytes it has sent. */
export function countingSource(bytes: Buffer) {
  const source = fileSource(bytes);
  const reads: { readonly first: number; readonly last: number | undefined; sentBytes: number }[] = [];
  const counting: FileSource = {
    ...source,
    read(first, last) {
      const read = { first, last, sentBytes: 0 };
      reads.push(read);
      return source.read(first, last).map((chunk: Buffer) => {
        read.sentBytes += chunk.length;
        return chunk;
      });
    },
  };
  return Object.assign(counting, { reads, reading: source.reading });
}

const DIGESTS = ['-c', 'copy', '-copyts', '-f', 'framemd5', '-'];

/** Times from the first packet in seconds, size and digest of each packet of a file's streams, in decode order. */
export const packetDigests = async (args: readonly string[], program = 'ffmpeg'): Promise<Record<string, string[]>> =>
  readDigests((await run(program, ['-nostdin', '-v', 'error', ...args, ...DIGESTS], { maxBuffer: 1 << 28 })).stdout);

/** The same of every stream of a file, which is decoded as well. */
export async function decodedPackets(file: string) {
  const input = ['-nostdin', '-v', 'error', '-threads', '1', '-i', file];
  const outputs = ['-map', '0', ...DIGESTS, '-map', '0', '-f', 'null', '-'];
  const { stdout, stderr } = await run('ffmpeg', [...input, ...outputs], { maxBuffer: 1 << 28 });
  return { packets: readDigests(stdout), complaints: stderr };
}

function readDigests(stdout: string): Record<string, string[]> {
  const units: Record<string, number> = {};
  for (const [, stream = '', num, den] of stdout.matchAll(/#tb (\d+): (\d+)\/(\d+)/g)) {
    units[stream] = Number(num) / Number(den);
  }
  const streams: Record<string, string[]> = {};
  const starts: Record<string, number> = {};
  for (const line of stdout.split('\n')) {
    if (!line || line.startsWith('#')) continue;
    const [stream = '', dts, pts, , size, digest] = line.split(',').map((field) => field.trim());
    starts[stream] ??= Number(dts);
    const seconds = (time: unknown) => ((Number(time) - (starts[stream] ?? 0)) * (units[stream] ?? 1)).toFixed(3);
    streams[stream] ??= [];
    streams[stream].push(`${seconds(dts)} ${seconds(pts)} ${size} ${digest}`);
  }
  return streams;
}

/** Replaces the last entries of the `sidx`, which FFmpeg writes in version 1, by a `free` box. */
function shortenIndex(file: Buffer, entries: number): Buffer {
  const start = file.indexOf('sidx') - 4;
  const removed = entries * 12;
  const size = file.readUInt32BE(start) - removed;
  file.writeUInt32BE(size, start);
  file.writeBigUInt64BE(BigInt(removed), start + 28);
  file.writeUInt16BE(file.readUInt16BE(start + 38) - entries, start + 38);
  file.writeUInt32BE(removed, start + size);
  file.write('free', start + size + 4, 'latin1');
  return file;
}

/** Adds the size of the `sidx` to every `base_data_offset`. */
function shiftBaseOffsets(file: Buffer): Buffer {
  const shift = BigInt(file.readUInt32BE(file.indexOf('sidx') - 4));
  for (let at = file.indexOf('tfhd'); at >= 0; at = file.indexOf('tfhd', at + 4)) {
    file.writeBigUInt64BE(file.readBigUInt64BE(at + 12) + shift, at + 12);
  }
  return file;
}
