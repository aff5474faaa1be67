import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureMade } from '../../../../origin/media.ts';
import { codedSound, ffmpeg, RATE } from './coded-sound.ts';

/** Part of the recipe: another sound creates other files. */
const SOUND = await readFile(resolve(import.meta.dirname, 'coded-sound.ts'), 'utf8');

/**
 * The folder of encodes of `codedSound(seconds)`, which one run of FFmpeg makes. It is kept between runs and shared by the
 * test files.
 * @param outputs FFmpeg's options by the name of the file, whose extension selects the container
 * @param inputs further inputs
 */
export const encodedSounds = (
  seconds: number,
  outputs: Readonly<Record<string, readonly string[]>>,
  inputs: readonly string[] = [],
): Promise<string> =>
  ensureMade([SOUND, seconds, outputs, inputs], async (draft) => {
    const raw = join(draft, 'original.f32le');
    await writeFile(raw, new Uint8Array(codedSound(seconds).buffer));
    const files = Object.entries(outputs).flatMap(([name, options]) => [...options, join(draft, name)]);
    await ffmpeg('-f', 'f32le', '-ar', String(RATE), '-ac', '1', '-i', raw, ...inputs, ...files);
    await rm(raw);
  });

/** The path of a single one. */
export const encodedSound = async (name: string, seconds: number, options: readonly string[]): Promise<string> =>
  join(await encodedSounds(seconds, { [name]: options }), name);
