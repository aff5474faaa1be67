import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { run } from '../process/index.ts';
import type { Ffmpeg, ToolSource } from '../tools.ts';

const TONE = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000:duration=1'];
const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=size=64x64:rate=10:duration=1'];

/**
 * Identifies an FFmpeg build and checks that it can encode MP3 with LAME and mux fragmented MP4.
 * @throws Error in one line
 */
export async function inspectFfmpeg(path: string, source: ToolSource, signal: AbortSignal): Promise<Ffmpeg> {
  const said = (await run(path, ['-version'], { signal })).toString();
  const [, version] = /^ffmpeg version (\S+)/.exec(said) ?? [];
  if (!version) throw new Error('it is not FFmpeg');
  await checkMp3(path, signal);
  await checkMp4(path, signal);
  return { version, path, source, buildId: await buildIdOf(path, said) };
}

async function checkMp3(path: string, signal: AbortSignal): Promise<void> {
  const encoding = ['-ar', '48000', '-ac', '2', '-c:a', 'libmp3lame', '-b:a', '192k', '-f', 'mp3', 'pipe:1'];
  const bytes = await encode(path, [...TONE, ...encoding], signal);
  // One second at 192 kbit/s, plus at most a few frames of padding and tags.
  if (bytes.length < 24_000 || bytes.length > 30_000) throw new Error(`its MP3 has ${bytes.length} bytes per second`);
}

async function checkMp4(path: string, signal: AbortSignal): Promise<void> {
  const muxing = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4', 'pipe:1'];
  const bytes = await encode(path, [...PICTURE, ...TONE, '-c:v', 'mpeg4', '-c:a', 'aac', ...muxing], signal);
  if (bytes.toString('latin1', 4, 8) !== 'ftyp' || !bytes.includes('moof')) throw new Error('its MP4 has no fragments');
}

const encode = (path: string, args: readonly string[], signal: AbortSignal): Promise<Buffer> =>
  run(path, ['-nostdin', '-v', 'error', ...args], { signal });

/** Digest of the output of `-version`, libraries included, and of the file: builds of one version differ. */
async function buildIdOf(path: string, said: string): Promise<string> {
  const digest = createHash('sha256').update(said);
  await pipeline(createReadStream(path), digest, { end: false });
  return digest.digest('hex').slice(0, 32);
}
