import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ensureMade } from '../../../origin/media.ts';
import { codedSound, ffmpeg, writeWav } from './coded-sound.ts';

/** Part of the recipe: another sound creates other files. */
const SOUND = await readFile(resolve(import.meta.dirname, 'coded-sound.ts'), 'utf8');

/**
 * The path of an encode of `codedSound(seconds)`. It is kept between runs and shared by the test files.
 * @param name of the file: its extension selects the container
 * @param args FFmpeg's options of the output, or further inputs and these
 */
export async function encodedSound(name: string, seconds: number, args: readonly string[]): Promise<string> {
  const folder = await ensureMade([SOUND, name, seconds, args], async (draft) => {
    const wav = join(draft, 'original.wav');
    await writeWav(wav, codedSound(seconds));
    await ffmpeg('-i', wav, ...args, join(draft, name));
    await rm(wav);
  });
  return join(folder, name);
}
