import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withTemporaryFolder } from '../../../../support/media-tools.ts';

const run = promisify(execFile);

export const RATE = 48_000;
/** Samples between two random values: sound below some 1.5 kHz, which every codec keeps. */
const STEP = 16;
/** Samples that are compared at a place, and how far around it they are looked for. */
const WINDOW = 4800;
const REACH = 9600;
const COARSE = 8;

/** Runs FFmpeg to its end. @throws with its last words */
export const ffmpeg = (...args: string[]) => run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);

/** Sound in which no two moments are alike: noise from a seed, one channel of 48 kHz samples in -1…1. */
export function codedSound(seconds: number, seed = 1): Float32Array {
  const samples = new Float32Array(Math.round(seconds * RATE));
  const random = randomFrom(seed);
  let [from, to] = [0, 0];
  for (let i = 0; i < samples.length; i += 1) {
    const place = i % STEP;
    if (place === 0) [from, to] = [to, random() * 1.2 - 0.6];
    samples[i] = from + ((to - from) * place) / STEP;
  }
  return samples;
}

/** Numbers in 0…1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Decodes media to one channel of 48 kHz samples. @param filters for example to fill gaps of timestamps */
export async function decode(media: Buffer, filters = 'anull'): Promise<Float32Array> {
  return withTemporaryFolder(async (folder) => {
    // From a pipe, FFmpeg does not drop the padding at the end of MP3.
    const file = join(folder, 'media');
    await writeFile(file, media);
    const args = ['-v', 'error', '-i', file, '-af', filters, '-ac', '1', '-ar', String(RATE), '-f', 'f32le', 'pipe:1'];
    const { stdout } = await run('ffmpeg', args, { encoding: 'buffer', maxBuffer: 256 * 1024 * 1024 });
    return new Float32Array(new Uint8Array(stdout).buffer);
  });
}

/** Where a moment of the original is heard: samples later than expected, and how sure that is (1: the very same). */
export interface Heard {
  readonly second: number;
  readonly lag: number;
  readonly likeness: number;
}

/** A correlation from which a window is found for certain: noise correlates with nothing but itself. */
const CERTAIN = 0.95;

/**
 * Finds the original in what is heard, every `every` seconds, in windows of a tenth of a second. A window is looked for
 * where the one before it was found, and in the whole reach only if it is not there.
 */
export function listen(original: Float32Array, heard: Float32Array, every: number): Heard[] {
  const found: Heard[] = [];
  for (let at = REACH; at + WINDOW + REACH <= original.length; at += Math.round(every * RATE)) {
    const expected = found.at(-1)?.lag;
    const near =
      expected === undefined ? undefined : best(original, heard, at, expected - COARSE, expected + COARSE, 1);
    found.push({ second: at / RATE, ...(near && near.likeness > CERTAIN ? near : search(original, heard, at)) });
  }
  return found;
}

function search(original: Float32Array, heard: Float32Array, at: number) {
  const coarse = best(original, heard, at, -REACH, REACH, COARSE);
  return best(original, heard, at, coarse.lag - COARSE, coarse.lag + COARSE, 1);
}

function best(original: Float32Array, heard: Float32Array, at: number, from: number, to: number, step: number) {
  let result = { lag: 0, likeness: -1 };
  for (let lag = from; lag <= to; lag += step) {
    const likeness = correlate(original, heard, at, at + lag, step);
    if (likeness > result.likeness) result = { lag, likeness };
  }
  return result;
}

function correlate(a: Float32Array, b: Float32Array, atA: number, atB: number, step: number): number {
  let [dot, powerA, powerB] = [0, 0, 0];
  for (let i = 0; i < WINDOW; i += step) {
    const x = a[atA + i] ?? 0;
    const y = b[atB + i] ?? 0;
    dot += x * y;
    powerA += x * x;
    powerB += y * y;
  }
  return powerA * powerB === 0 ? 0 : dot / Math.sqrt(powerA * powerB);
}
