import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withTemporaryFolder } from '../../../support/media-tools.ts';

const run = promisify(execFile);

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

interface Frame {
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
 * @param files one with both, or one of each
 * @param seconds at most, from the beginning
 */
export const decode = (files: readonly string[], seconds = 3600): Promise<Decoded> =>
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
