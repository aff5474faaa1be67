import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FileSource } from '@reelay/source';
import { expect } from 'vitest';
import type { Resource } from '../../../../core/state/resource.ts';
import type { OpenSource } from '../../../../stream-service/source/open-source.ts';
import { ensureFolder, ensureMedia } from '../../../origin/media.ts';
import { type ExpectOptions, expectPackets } from '../../../support/expect-packets.ts';
import { inspect } from '../../../support/media-tools.ts';
import {
  audioTrack,
  combinedKey,
  mediaKey,
  resourceOf,
  type ServiceFixtureOptions,
  startService,
  trackOf,
  videoTrack,
} from '../../fixture.ts';
import { fileSource } from '../encode/mp3/fixture.ts';

const run = promisify(execFile);

const flags = (...names: readonly string[]) => ['-movflags', ['empty_moov', ...names].join('+')];
const SIDX = flags('dash', 'global_sidx');
const KEYFRAMES = flags('frag_keyframe', 'dash', 'global_sidx');
const EVERY = (microseconds: number) => ['-frag_duration', String(microseconds)];
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '3', '-b_strategy', '0'];

/** Files that the origin has not, made from its own: FFmpeg's arguments before the output, and the input. Streams are copied unless said. */
const RECIPES: Readonly<Record<string, readonly [from: string, ...args: string[]]>> = {
  'indexed.mp4': ['long-video.mp4', ...KEYFRAMES],
  'indexed.m4a': ['long-audio.m4a', ...EVERY(5e6), ...SIDX],
  'absolute.mp4': ['long-video.mp4', ...flags('frag_keyframe', 'global_sidx')],
  'short-indexed.m4a': ['ladder/aac-128.m4a', ...EVERY(2e6), ...SIDX],
  'bframes.mp4': ['ladder/h264-720.mp4', ...X264, '-video_track_timescale', '90000', '-movie_timescale', '600'],
  'flac.mp4': ['tone.flac', '-strict', '-2'],
  'opus.mp4': ['ladder/opus-96.webm'],
  'ac3.mp4': ['ladder/aac-128.m4a', '-c:a', 'ac3'],
  'mp3.mp4': ['ladder/aac-128.m4a', '-c:a', 'libmp3lame'],
  'vp9.mp4': ['ladder/vp9-360.webm'],
  'hevc.mp4': ['clip.mp4', '-an', '-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none'],
  'muxed-indexed.mp4': ['long.mp4', ...EVERY(5e6), ...KEYFRAMES],
  'unindexed.mp4': ['long-video.mp4', ...flags('frag_keyframe', 'skip_trailer')],
  'listed.mp4': ['long-video.mp4', ...flags('frag_keyframe')],
  'listed.m4a': ['long-audio.m4a', ...EVERY(5e6), ...flags()],
  'unindexed-short.mp4': ['ladder/h264-360.mp4', ...flags('frag_keyframe', 'skip_trailer')],
  'chained-short.mp4': ['ladder/h264-360.mp4', ...flags('frag_keyframe', 'dash')],
  'chained-short.m4a': ['ladder/aac-128.m4a', ...EVERY(2e6), ...flags('dash')],
  'partial-index.mp4': ['ladder/h264-360.mp4', ...KEYFRAMES],
  'two-tracks.mp4': ['ladder/both-360.mp4', ...flags('frag_keyframe', 'default_base_moof')],
  'chained.mp4': ['long-video.mp4', ...flags('frag_keyframe', 'dash')],
};

/** Changed recipes create new files in another folder. */
const STAMP = createHash('sha256').update(JSON.stringify(RECIPES)).digest('hex').slice(0, 12);

/** The files of `RECIPES`, which are kept between runs. */
export async function usePairMedia() {
  const media = await ensureMedia();
  const made = await ensureFolder(`${media}-pairs-${STAMP}`, (draft) => makeFiles(draft, media));
  const pathOf = (file: string) => join(file in RECIPES ? made : media, file);
  const load = async (file: string) => countingSource(await readFile(pathOf(file)));
  return {
    pathOf,
    load,
    /** Expects what decodes to have the packets of files, of the video and of each audio. @returns what ffprobe says of it */
    async expectPackets(body: Buffer, files: readonly string[], options?: ExpectOptions) {
      const { complaints, ...probed } = await inspect(body, '.mp4');
      expect(complaints).toBe('');
      await expectPackets(body, files.map(pathOf) as [string], options);
      return probed;
    },
    /**
     * Starts the service with a pair of files, or a single one, until the test ends.
     * @returns the URL of its Media, and that of each other route
     */
    async start(files: readonly string[], options: ServiceFixtureOptions = {}, item: Partial<Resource> = {}) {
      const sources = await Promise.all(files.map(load));
      const tracks = files.length > 1 ? [videoTrack(), audioTrack()] : [trackOf('video')];
      const byId = Object.fromEntries(sources.map((source, index) => [tracks[index]?.formatId, source]));
      const peekSource: OpenSource = async (_, { formatId }) => byId[formatId] ?? expect.fail('No source');
      const resource = resourceOf(tracks, { durationSeconds: 300, ...item });
      const service = await startService(resource, byId, { peekSource, ...options });
      const key = files.length > 1 ? combinedKey() : mediaKey('video');
      const urlOf = (route: string) => `${service.url}/api/Stream/${route}/${key}`;
      return { ...service, sources, urlOf, url: urlOf('Media') };
    },
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

/** A file in memory that records the ranges it was read by, and how many of their bytes it has sent. */
function countingSource(bytes: Buffer) {
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
