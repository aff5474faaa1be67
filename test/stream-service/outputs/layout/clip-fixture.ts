import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Resource } from '../../../../core/state/resource.ts';
import type { StreamServiceOptions } from '../../../../stream-service/create-stream-service.ts';
import { withTemporaryFolder } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { audioTrack, combinedKey, resourceOf, startService, trackOf, videoTrack } from '../../fixture.ts';
import type { PairMedia } from './pair-fixture.ts';

const run = promisify(execFile);

/** Starts the service with a pair of files, or a single one, until the test ends, and returns the URL of its Media. */
export async function startMedia(
  media: PairMedia,
  files: Files,
  options: Partial<StreamServiceOptions> = {},
  item: Partial<Resource> = {},
) {
  const [first, second] = await Promise.all(files.map(media.load));
  const traits = { durationSeconds: 300, ...item };
  if (second && first) {
    const resource = resourceOf([videoTrack(), audioTrack()], traits);
    const service = await startService(resource, { video: first, audio: second }, options);
    return { service, url: `${service.url}/api/Stream/Media/${combinedKey()}`, sources: [first, second] };
  }
  if (!first) throw new Error('No file');
  const service = await startService(resourceOf([trackOf('both')], traits), { both: first }, options);
  return { service, url: service.media('both'), sources: [first] };
}

/** Requests a clip and writes it to a file. */
export async function fetchClip(media: PairMedia, url: string, query: string) {
  const answer = await sendRequest(`${url}?${query}`);
  const file = join(media.folder, `clip-${query.replaceAll(/\W/g, '_')}.mp4`);
  await writeFile(file, answer.body);
  return { ...answer, file };
}

/** Runs FFmpeg. @returns what it writes to its standard output, and its messages */
async function ffmpeg(args: readonly string[]) {
  const options = { maxBuffer: 1 << 29, encoding: 'buffer' } as const;
  return run('ffmpeg', ['-nostdin', '-v', 'error', ...args], options);
}

/** A function of files that do not change, which reads each of them once. */
export function once<A extends readonly unknown[], T>(read: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  const results = new Map<string, Promise<T>>();
  return (...args) => {
    const key = JSON.stringify(args);
    const result = results.get(key) ?? read(...args);
    results.set(key, result);
    return result;
  };
}

/** A file with video and audio, or one of each. */
export type Files = readonly [string] | readonly [string, string];

export interface Frame {
  readonly seconds: number;
  readonly digest: string;
}

export interface Decoded {
  /** The frames as they are shown, with their presentation times. */
  readonly frames: readonly Frame[];
  /** The audio as it is heard: mono samples of 16 bits. */
  readonly samples: Int16Array;
  /** Messages of the decoders. */
  readonly complaints: string;
}

export const AUDIO_RATE = 48_000;
const FRAMES = ['-fps_mode', 'passthrough', '-enc_time_base', '1:90000', '-f', 'framehash', '-hash', 'murmur3'];
const SAMPLES = ['-ac', '1', '-ar', String(AUDIO_RATE), '-f', 's16le'];

/**
 * Decodes video and audio. Frames before 0 are not shown: FFmpeg's AV1 decoder returns them all the same.
 * @param seconds at most, from the beginning
 */
export const decode = (files: Files, seconds = 3600): Promise<Decoded> =>
  withTemporaryFolder(async (folder) => {
    const heard = join(folder, 'heard');
    const inputs = files.flatMap((file) => ['-t', String(seconds), '-i', file]);
    const audio = `${files.length - 1}:a:0`;
    const { stdout, stderr } = await ffmpeg(
      ['-copyts', ...inputs].concat('-map', '0:v:0', ...FRAMES, '-', '-map', audio, ...SAMPLES, heard),
    );
    const text = stdout.toString();
    const [, num, den] = /#tb 0: (\d+)\/(\d+)/.exec(text) ?? [];
    const frames = [...text.matchAll(/^0, *-?\d+, *(-?\d+),.*, (\w{32})/gm)]
      .map(([, pts, digest = '']) => ({ seconds: (Number(pts) * Number(num)) / Number(den), digest }))
      .filter(({ seconds }) => seconds >= 0);
    return { frames, samples: samplesOf(await readFile(heard)), complaints: stderr.toString() };
  });

/** The audio of a file as it is heard. */
export const heardSamples = async (file: string): Promise<Int16Array> =>
  samplesOf((await ffmpeg(['-i', file, '-map', '0:a:0', ...SAMPLES, '-'])).stdout);

const samplesOf = (bytes: Buffer) => new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);

/** How far samples are from those of another part that is as long. @param step compares one of so many */
export function meanDifference(a: Int16Array, b: Int16Array, step = 1): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let sum = 0;
  for (let index = 0; index < b.length; index += step) sum += Math.abs((a[index] ?? 0) - (b[index] ?? 0));
  return (sum * step) / b.length;
}
