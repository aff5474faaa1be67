import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withTemporaryFolder } from '../support/media-tools.ts';

const run = promisify(execFile);
const RATE = 8000;
const LOUD = 30;

/** How high each second of a file sounds, Hz; 0: silence. */
export function tonesOf(body: Buffer): Promise<number[]> {
  return withTemporaryFolder(async (folder) => {
    const file = join(folder, 'body');
    await writeFile(file, body);
    const args = ['-v', 'error', '-i', file, '-map', '0:a:0', '-ac', '1', '-ar', String(RATE), '-f', 's16le', '-'];
    const { stdout } = await run('ffmpeg', args, { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 });
    const samples = new Int16Array(stdout.buffer, stdout.byteOffset, Math.floor(stdout.length / 2));
    return Array.from({ length: Math.floor(samples.length / RATE) }, (_, second) =>
      heightOf(samples.subarray(second * RATE, (second + 1) * RATE)),
    );
  });
}

function heightOf(second: Int16Array): number {
  const energy = second.reduce((sum, sample) => sum + sample * sample, 0) / second.length;
  if (Math.sqrt(energy) < LOUD) return 0;
  return (
    second.reduce(
      (count, sample, index) => count + Number(index > 0 && sample < 0 !== (second[index - 1] ?? 0) < 0),
      0,
    ) / 2
  );
}

/** Tones to the hundred, each as long as it lasts: what a recording is when nothing of it is lost or moved. */
export const melody = async (body: Buffer): Promise<string> => {
  const tones = (await tonesOf(body)).map((tone) => Math.round(tone / 100) * 100);
  const runs: [number, number][] = [];
  for (const tone of tones) {
    const last = runs.at(-1);
    if (last?.[0] === tone) last[1] += 1;
    else runs.push([tone, 1]);
  }
  return runs.map(([tone, seconds]) => `${tone}×${seconds}`).join(' ');
};

/** When each packet of a side is shown, seconds. */
export function packetTimes(body: Buffer, side: 'v' | 'a'): Promise<number[]> {
  return withTemporaryFolder(async (folder) => {
    const file = join(folder, 'body');
    await writeFile(file, body);
    const args = ['-v', 'error', '-select_streams', side, '-show_entries', 'packet=pts_time', '-of', 'csv=p=0', file];
    const { stdout } = await run('ffprobe', args);
    return stdout
      .split('\n')
      .filter(Boolean)
      .map(Number.parseFloat)
      .sort((a, b) => a - b);
  });
}
