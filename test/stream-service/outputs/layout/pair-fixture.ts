import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FileSource } from '@reelay/source';
import { expect } from 'vitest';
import { ensureFolder, ensureMedia } from '../../../origin/media.ts';
import { type ExpectOptions, expectPackets } from '../../../support/expect-packets.ts';
import { inspect } from '../../../support/media-tools.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { fileSource } from '../encode/mp3/fixture.ts';

const run = promisify(execFile);

const SIDX = ['-movflags', 'empty_moov+dash+global_sidx'];
const KEYFRAMES = ['-movflags', 'frag_keyframe+empty_moov+dash+global_sidx'];
const EVERY = (microseconds: number) => ['-frag_duration', String(microseconds)];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '3', '-b_strategy', '0'];

/** Files that the origin has not, made from its own: FFmpeg's arguments before the output, and the input. Streams are copied unless said. */
const RECIPES: Readonly<Record<string, readonly [from: string, ...args: string[]]>> = {
  'indexed.mp4': ['long-video.mp4', ...KEYFRAMES],
  'indexed.m4a': ['long-audio.m4a', ...EVERY(5e6), ...SIDX],
  'coarse.mp4': ['long-video.mp4', ...EVERY(5e6), ...SIDX],
  'coarse.m4a': ['long-audio.m4a', ...EVERY(9_984_000), ...SIDX],
  'absolute.mp4': ['long-video.mp4', '-movflags', 'frag_keyframe+empty_moov+global_sidx'],
  'short-indexed.m4a': ['ladder/aac-128.m4a', ...EVERY(2e6), ...SIDX],
  'bframes.mp4': ['ladder/h264-720.mp4', ...X264, '-video_track_timescale', '90000', '-movie_timescale', '600'],
  'flac.mp4': ['tone.flac', '-strict', '-2'],
  'opus.mp4': ['ladder/opus-96.webm'],
  'ac3.mp4': ['ladder/aac-128.m4a', '-c:a', 'ac3'],
  'mp3.mp4': ['ladder/aac-128.m4a', '-c:a', 'libmp3lame'],
  'vp9.mp4': ['ladder/vp9-360.webm'],
  'hevc.mp4': ['clip.mp4', '-an', '-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'],
  'muxed-indexed.mp4': ['long.mp4', ...EVERY(5e6), ...KEYFRAMES],
  'unindexed.mp4': ['long-video.mp4', '-movflags', 'frag_keyframe+empty_moov+skip_trailer'],
  'listed.mp4': ['long-video.mp4', '-movflags', 'frag_keyframe+empty_moov'],
  'listed.m4a': ['long-audio.m4a', ...EVERY(5e6), '-movflags', 'empty_moov'],
  'unindexed-short.mp4': ['ladder/h264-360.mp4', '-movflags', 'frag_keyframe+empty_moov+skip_trailer'],
  'chained-short.mp4': ['ladder/h264-360.mp4', '-movflags', 'frag_keyframe+empty_moov+dash'],
  'chained-short.m4a': ['ladder/aac-128.m4a', ...EVERY(2e6), '-movflags', 'empty_moov+dash'],
  'partial-index.mp4': ['ladder/h264-360.mp4', ...KEYFRAMES],
  'two-tracks.mp4': ['ladder/both-360.mp4', '-movflags', 'frag_keyframe+empty_moov+default_base_moof'],
  'chained.mp4': ['long-video.mp4', '-movflags', 'frag_keyframe+empty_moov+dash'],
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
    /** Expects what decodes to have the packets of files, of the video and of each audio. @returns what ffprobe says of it */
    async expectPackets(body: Buffer, files: readonly string[], options?: ExpectOptions) {
      const { complaints, ...probed } = await inspect(body, '.mp4');
      expect(complaints).toBe('');
      await expectPackets(body, files.map(pathOf) as [string], options);
      return probed;
    },
    load: async (file: string) => countingSource(await readFile(pathOf(file))),
  };
}

async function makeFiles(folder: string, media: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, [from, ...args]] of Object.entries(RECIPES)) {
    const output = ['-f', 'mp4', join(folder, name)];
    await run('ffmpeg', ['-nostdin', '-v', 'error', '-i', from, '-c', 'copy', ...args, ...output], { cwd: media });
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
