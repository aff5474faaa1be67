import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Generated once and kept for the next run. */
export const MEDIA_DIR = resolve(import.meta.dirname, '../.data/bench-media');

const GENERATED = ['-f', 'lavfi', '-i'];
const NOISE = (size: string, seconds: number) => [
  ...GENERATED,
  `testsrc2=s=${size}:r=25:d=${seconds},noise=alls=90:allf=t`,
];
const TONE = (seconds: number) => [
  ...GENERATED,
  `aevalsrc=0.3*sin(2*PI*(300+50*sin(t/7))*t)+0.05*random(0):s=44100:d=${seconds}`,
];
/** Constant bit rate. */
const RATE = (rate: string) => ['-b:v', rate, '-minrate', rate, '-maxrate', rate, '-bufsize', rate];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '50'];
const FASTSTART = ['-movflags', '+faststart'];
const COPY = ['-c', 'copy', ...FASTSTART];
/** Fragments with one segment index, as large sites have. */
const INDEXED = ['-c', 'copy', '-movflags', 'empty_moov+dash+global_sidx'];
const AAC = ['-c:a', 'aac', '-b:a', '128k', '-ac', '2'];

/** Each with what it is for. */
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  /** 8 MB with both tracks: pass-through, as players and downloaders meet it. */
  'clip.mp4': [...NOISE('320x180', 20), ...TONE(20), ...H264, ...RATE('3M'), ...AAC, '-shortest', ...FASTSTART],
  /** About 150 MB of video alone, and its sound. */
  'video.mp4': [...NOISE('960x540', 60), ...H264, ...RATE('20M'), '-an', ...FASTSTART],
  'audio.m4a': [...TONE(60), ...AAC, ...FASTSTART],
  /** The same pair in one file, and as fragments. */
  'both.mp4': ['-i', 'video.mp4', '-i', 'audio.m4a', ...COPY],
  'indexed.mp4': ['-i', 'video.mp4', ...INDEXED, '-frag_duration', '2000000'],
  'indexed.m4a': ['-i', 'audio.m4a', ...INDEXED, '-frag_duration', '5000000'],
  /** A pair of one hour and 1 Mbit/s: progressive, as fragments, and in one file. */
  'minute.mp4': [...NOISE('320x180', 60), ...H264, '-b:v', '1M', '-maxrate', '1M', '-bufsize', '1M', '-an'],
  'hour-video.mp4': ['-stream_loop', '59', '-i', 'minute.mp4', ...COPY],
  'hour-audio.m4a': ['-stream_loop', '59', '-i', 'audio.m4a', ...COPY],
  'hour-indexed.mp4': ['-i', 'hour-video.mp4', ...INDEXED, '-frag_duration', '2000000'],
  'hour-indexed.m4a': ['-i', 'hour-audio.m4a', ...INDEXED, '-frag_duration', '5000000'],
  'hour-both.mp4': ['-i', 'hour-video.mp4', '-i', 'hour-audio.m4a', ...COPY],
  /** An hour of AAC. */
  'hour.m4a': [...TONE(3600), ...AAC, ...FASTSTART],
};

const made = new Map<string, Promise<number>>();

/** Generates a file, and those that it is made of, unless they are there. @returns its size */
export function makeMedia(name: string): Promise<number> {
  const size = made.get(name) ?? make(name, RECIPES[name] ?? []);
  made.set(name, size);
  return size;
}

async function make(name: string, recipe: readonly string[]): Promise<number> {
  const path = join(MEDIA_DIR, name);
  if (!existsSync(path)) {
    await mkdir(MEDIA_DIR, { recursive: true });
    for (const input of recipe) if (input in RECIPES) await makeMedia(input);
    process.stderr.write(`Making ${name}\n`);
    const unfinished = join(MEDIA_DIR, `unfinished-${name}`);
    await run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...recipe, unfinished], { cwd: MEDIA_DIR });
    await rename(unfinished, path);
  }
  return (await stat(path)).size;
}
