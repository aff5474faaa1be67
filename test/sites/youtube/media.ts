import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { madeBy, madeFiles } from '../../origin/media.ts';

const fragmented = ['-movflags', '+dash+global_sidx+frag_keyframe'];
const video = (size: string, kbps: number, rate = 25) => [
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', String(rate * 2), '-b:v', `${kbps}k`, '-s', size],
];
const picture = (size: string, seconds: number, rate = 25) => [
  '-f',
  'lavfi',
  '-i',
  `testsrc2=s=${size}:r=${rate}:d=${seconds}`,
];
const sound = (hertz: number, seconds: number) => ['-f', 'lavfi', '-i', `sine=${hertz}:r=44100:d=${seconds}`];
const aac = ['-c:a', 'aac', '-b:a', '64k', ...fragmented, '-frag_duration', '2000000'];

export const SECONDS = 6;
/** Of videos that are more than the minute that is sent without a token. */
export const LONG_SECONDS = 90;

const RECIPES = {
  '136.mp4': [...picture('1280x720', SECONDS), ...video('1280x720', 300), '-an', ...fragmented],
  '134.mp4': [...picture('640x360', SECONDS), ...video('640x360', 120), '-an', ...fragmented],
  '140.m4a': [...sound(440, SECONDS), ...aac],
  '140-drc.m4a': [...sound(330, SECONDS), ...aac],
  '140-es.m4a': [...sound(660, SECONDS), ...aac],
  '140-de.m4a': [...sound(880, SECONDS), ...aac],
  '251.webm': [...sound(550, SECONDS), '-ar', '48000', '-c:a', 'libopus', '-b:a', '64k'],
  '18.mp4': [
    ...[...picture('640x360', SECONDS), ...sound(440, SECONDS), ...video('640x360', 100)],
    ...['-c:a', 'aac', '-b:a', '48k', '-movflags', '+faststart'],
  ],
  'long-134.mp4': [
    ...picture('640x360', LONG_SECONDS, 5),
    ...video('640x360', 160, 5),
    '-minrate',
    '160k',
    '-maxrate',
    '160k',
    '-bufsize',
    '320k',
    '-x264-params',
    'nal-hrd=cbr',
    '-an',
    ...fragmented,
  ],
  'long-140.m4a': ['-f', 'lavfi', '-i', `anoisesrc=r=44100:seed=1:d=${LONG_SECONDS}`, ...aac, '-b:a', '128k'],
  'long-18.mp4': [
    ...[...picture('640x360', LONG_SECONDS, 5), ...sound(440, LONG_SECONDS), ...video('640x360', 40, 5)],
    ...['-c:a', 'aac', '-b:a', '48k', '-movflags', '+faststart'],
  ],
  'thumbnail.jpg': ['-f', 'lavfi', '-i', 'testsrc2=s=480x360', '-frames:v', '1'],
} as const;

/** Segments of one second, `0.ts` and so on, and as many as this. */
export const LIVE_SEGMENTS = 6;

/** The folder of the segments. */
export const makeLiveMedia = (): Promise<string> =>
  madeBy([
    [
      ...[...picture('640x360', LIVE_SEGMENTS), ...sound(440, LIVE_SEGMENTS), ...video('640x360', 120), '-g', '25'],
      ...['-c:a', 'aac', '-b:a', '48k', '-f', 'hls', '-hls_time', '1', '-hls_list_size', '0'],
      ...['-hls_segment_filename', '%d.ts', 'index.m3u8'],
    ],
  ]);

export type MediaName = keyof typeof RECIPES;

/** The folder of the files. */
export const makeMedia = (): Promise<string> => madeFiles(RECIPES);

export const sizesOf = async (dir: string): Promise<Readonly<Record<MediaName, number>>> => {
  const names = Object.keys(RECIPES) as MediaName[];
  const sizes = await Promise.all(names.map(async (name) => [name, (await stat(join(dir, name))).size] as const));
  return Object.fromEntries(sizes) as Record<MediaName, number>;
};
