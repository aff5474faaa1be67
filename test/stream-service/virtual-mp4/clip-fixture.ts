import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type { StreamServiceOptions } from '../../../stream-service/create-stream-service.ts';
import { sendRequest } from '../../support/request.ts';
import { audioTrack, combinedKey, mediaKey, resourceOf, startService, trackOf, videoTrack } from '../fixture.ts';
import type { PairMedia } from './pair-fixture.ts';

const run = promisify(execFile);

/** Starts the service with a pair of files, or a single one, until the test ends, and returns the URL of its Media. */
export async function startMedia(
  media: PairMedia,
  files: readonly [string] | readonly [string, string],
  options: Partial<StreamServiceOptions> = {},
) {
  const [first, second] = await Promise.all(files.map(media.load));
  const traits = { durationSeconds: 300 };
  if (second && first) {
    const resource = resourceOf([videoTrack(), audioTrack()], traits);
    const service = await startService(resource, { video: first, audio: second }, options);
    onTestFinished(service.close);
    return { service, url: `${service.url}/api/Stream/Media/${combinedKey()}`, sources: [first, second] };
  }
  if (!first) throw new Error('No file');
  const service = await startService(resourceOf([trackOf('both')], traits), { both: first }, options);
  onTestFinished(service.close);
  return { service, url: `${service.url}/api/Stream/Media/${mediaKey('both')}`, sources: [first] };
}

/** Requests a clip and writes it to a file. */
export async function fetchClip(media: PairMedia, url: string, query: string) {
  const answer = await sendRequest(`${url}?${query}`);
  const file = join(media.folder, `clip-${query.replaceAll(/\W/g, '_')}.mp4`);
  await writeFile(file, answer.body);
  return { ...answer, file };
}

const ffmpeg = async (args: readonly string[]): Promise<Buffer> => {
  const options = { maxBuffer: 1 << 29, encoding: 'buffer' } as const;
  const { stdout } = await run('ffmpeg', ['-nostdin', '-v', 'error', ...args, '-'], options);
  return stdout;
};

/** A function of files that do not change, which reads each of them once. */
export function once<A extends readonly string[], T>(read: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
  const results = new Map<string, Promise<T>>();
  return (...args) => {
    const key = args.join('\0');
    const result = results.get(key) ?? read(...args);
    results.set(key, result);
    return result;
  };
}

export interface Frame {
  readonly seconds: number;
  readonly digest: string;
}

/**
 * The frames of the video of a file as they are shown, with their presentation times. Frames before 0 are not shown:
 * FFmpeg's AV1 decoder returns them all the same.
 */
export async function shownFrames(file: string): Promise<Frame[]> {
  const text = (
    await ffmpeg([
      '-copyts',
      '-i',
      file,
      '-map',
      '0:v:0',
      '-fps_mode',
      'passthrough',
      '-enc_time_base',
      '1:90000',
      '-f',
      'framemd5',
    ])
  ).toString();
  const [, num, den] = /#tb 0: (\d+)\/(\d+)/.exec(text) ?? [];
  const frames = [...text.matchAll(/^0, *-?\d+, *(-?\d+),.*, (\w{32})/gm)];
  return frames
    .map(([, pts, digest = '']) => ({ seconds: (Number(pts) * Number(num)) / Number(den), digest }))
    .filter(({ seconds }) => seconds >= 0);
}

export const AUDIO_RATE = 48_000;

/** The audio of a file as it is heard: mono samples of 16 bits. */
export async function heardSamples(file: string): Promise<Int16Array> {
  const args = ['-i', file, '-map', '0:a:0', '-ac', '1', '-ar', String(AUDIO_RATE), '-f', 's16le'];
  const bytes = await ffmpeg(args);
  return new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
}

/** Size and digest of each packet by stream, in decode order, those that are not shown included. */
export async function packets(file: string, map: string): Promise<string[]> {
  const args = ['-ignore_editlist', '1', '-i', file, '-map', map, '-c', 'copy', '-copyts', '-f', 'framemd5'];
  const text = (await ffmpeg(args)).toString();
  return [...text.matchAll(/^0, *-?\d+, *-?\d+, *\d+, *(\d+), (\w{32})/gm)].map(
    ([, size, digest]) => `${size} ${digest}`,
  );
}
