import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../packages/yt-dlp-worker/src/install/version-store.ts';
import { AES_KEY, recipes } from './recipes.ts';

const run = promisify(execFile);

/** Cache of test media between runs. */
export const MEDIA_CACHE = resolve(import.meta.dirname, '../../.data/test-media');

const CREATE_TIMEOUT_MS = 600_000;
/** Changed recipes create new media in another folder. */
const stampOf = (recipe: unknown) => createHash('sha256').update(JSON.stringify(recipe)).digest('hex').slice(0, 12);
const STAMP = stampOf(recipes);

/**
 * Returns the folder with the test media, which FFmpeg creates when it is missing (under a minute).
 * @throws when FFmpeg is missing or fails
 */
export const ensureMedia = ({ ffmpegPath = 'ffmpeg' } = {}): Promise<string> =>
  ensureFolder(join(MEDIA_CACHE, STAMP), (draft) => makeMedia(draft, ffmpegPath));

/**
 * Returns a folder that one of concurrent processes creates, under a temporary name first, and that is kept between runs.
 * @param make creates the folder and its files
 */
export async function ensureFolder(place: string, make: (draft: string) => Promise<void>): Promise<string> {
  if (existsSync(place)) return place;
  const create = async () => {
    if (existsSync(place)) return;
    const draft = join(dirname(place), `.draft-${randomUUID()}`);
    try {
      await make(draft);
      await rename(draft, place);
    } catch (error) {
      await rm(draft, { recursive: true, force: true });
      throw error;
    }
  };
  await withLock(`${place}.lock`, create, { signal: AbortSignal.timeout(CREATE_TIMEOUT_MS) });
  return place;
}

/**
 * As `ensureFolder`, in the cache of test media.
 * @param recipe what the files are made from, as JSON: a changed one creates another folder
 */
export const ensureMade = (recipe: unknown, make: (folder: string) => Promise<void>): Promise<string> =>
  ensureFolder(join(MEDIA_CACHE, `made-${stampOf(recipe)}`), async (draft) => {
    await mkdir(draft, { recursive: true });
    await make(draft);
  });

/**
 * The folder of files that FFmpeg makes. It is kept between runs and shared by the test files.
 * @param runs arguments of FFmpeg, one run each, with paths relative to the folder
 */
export const madeBy = (runs: readonly (readonly string[])[]): Promise<string> =>
  ensureMade(runs, async (cwd) => {
    for (const args of runs) await run('ffmpeg', ['-nostdin', '-v', 'error', ...args], { cwd });
  });

/** Arguments of FFmpeg for an HLS list of fragmented MP4 in segments of some seconds: `NAME.m3u8`, `NAME.mp4` and `NAME0.m4s`. */
export const fragmentedHls = (name: string, seconds: number): readonly string[] => [
  ...['-f', 'hls', '-hls_time', String(seconds), '-hls_list_size', '0', '-hls_segment_type', 'fmp4'],
  ...['-hls_fmp4_init_filename', `${name}.mp4`, '-hls_segment_filename', `${name}%d.m4s`, `${name}.m3u8`],
];

/**
 * The folder of files that FFmpeg makes, one for each name.
 * @param recipes arguments of FFmpeg before the file
 * @param inputs the folder that paths of inputs are relative to: that of `ensureMedia`
 */
export const madeFiles = (recipes: Readonly<Record<string, readonly string[]>>, inputs?: string): Promise<string> =>
  ensureMade([recipes, inputs && basename(inputs)], async (folder) => {
    for (const [name, args] of Object.entries(recipes))
      await run('ffmpeg', ['-nostdin', '-v', 'error', ...args, join(folder, name)], { cwd: inputs });
  });

/** The path of a single one. */
export const madeFile = async (name: string, args: readonly string[], inputs?: string): Promise<string> =>
  join(await madeFiles({ [name]: args }, inputs), name);

async function makeMedia(folder: string, ffmpegPath: string): Promise<void> {
  await mkdir(join(folder, 'hls/aes'), { recursive: true });
  await writeFile(join(folder, 'hls/aes/key.bin'), AES_KEY);
  // URI in the playlist, key file, initialization vector.
  await writeFile(join(folder, 'hls/aes.keyinfo'), `key.bin\nhls/aes/key.bin\n${'0'.repeat(31)}1\n`);
  for (const { folder: within, args, optional } of recipes) {
    if (within) await mkdir(join(folder, within), { recursive: true });
    const made = run(ffmpegPath, ['-nostdin', '-v', 'error', '-y', ...args], { cwd: folder });
    await (optional ? made.catch(() => undefined) : made);
  }
}
