import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Track } from '../../../core/state/resource.ts';
import { trackOf } from '../fixture.ts';
import { encodedSounds } from '../outputs/encode/mp3/encoded-sound.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

export const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10', '-pix_fmt', 'yuv420p'];
export const FRAGMENTS = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof+global_sidx'];
export const OPUS = ['-c:a', 'libopus', '-b:a', '64k'];

/** How sources are made, by format id: FFmpeg's arguments, and what their tracks have. */
type Recipes = Readonly<Record<string, readonly [traits: Partial<Track>, args: readonly string[], extension: string]>>;

/** Files in memory with the same sound, and with pictures at 10 a second. */
export async function encodeSources(seconds: number, recipes: Recipes) {
  const entries = Object.entries(recipes);
  const nameOf = (formatId: string, extension: string) => `${formatId}.${extension}`;
  const outputs = entries.map(([formatId, [, args, extension]]) => [nameOf(formatId, extension), args] as const);
  const picture = ['-f', 'lavfi', '-i', `testsrc=s=64x48:r=10:d=${seconds}`];
  const folder = await encodedSounds(seconds, Object.fromEntries(outputs), picture);
  const read = entries.map(async ([formatId, [, , extension]]) => {
    const source = fileSource(await readFile(join(folder, nameOf(formatId, extension))));
    return [formatId, source] as const;
  });
  return {
    tracks: entries.map(([formatId, [traits]]) => trackOf(formatId, traits)),
    sources: Object.fromEntries(await Promise.all(read)),
    pathOf: (name: string) => join(folder, name),
  };
}
