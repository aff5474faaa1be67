import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installedTools } from '../../test/support/installed-tools.ts';
import type { Case } from '../bench.ts';
import { firstByteMs, take } from '../clients.ts';
import { median, seconds } from '../figures.ts';
import { MEDIA_DIR } from '../media.ts';
import { endedChildrenCpuSeconds } from '../processes.ts';

const run = promisify(execFile);

const HOUR_SECONDS = 3600;
const RUNS = 3;
const ENCODING = [
  '-vn',
  '-ar',
  '48000',
  '-c:a',
  'libmp3lame',
  '-b:a',
  '192k',
  '-reservoir',
  '0',
  '-f',
  'mp3',
  '/dev/null',
];

/**
 * An hour of AAC as MP3, and FFmpeg of the same build with the same encoder settings: one, and two with half an hour
 * each.
 */
export const mp3: Case = async function* ({ origin, service, stream }) {
  const { ffmpeg } = await installedTools();
  await origin.publish('hour', [{ file: 'hour.m4a', holds: 'audio' }], HOUR_SECONDS);
  const url = `${await stream('hour')}?format=mp3`;
  const encode = (...range: string[]) =>
    run(ffmpeg.path, ['-nostdin', '-v', 'error', '-y', ...range, '-i', join(MEDIA_DIR, 'hour.m4a'), ...ENCODING]);
  const speeds = { ours: [] as number[], one: [] as number[], two: [] as number[] };
  const cpu = { ours: [] as number[], one: [] as number[] };
  const speed = async (work: () => Promise<unknown>) => HOUR_SECONDS / (await seconds(work));
  for (let count = 0; count < RUNS; count += 1) {
    const before = service.cpuSeconds();
    speeds.ours.push(await speed(() => take(url)));
    cpu.ours.push(service.cpuSeconds() - before);
    const begun = endedChildrenCpuSeconds();
    speeds.one.push(await speed(() => encode()));
    cpu.one.push(endedChildrenCpuSeconds() - begun);
    const half = String(HOUR_SECONDS / 2);
    speeds.two.push(await speed(() => Promise.all([encode('-t', half), encode('-ss', half)])));
  }
  const [ours, one, two] = [median(speeds.ours), median(speeds.one), median(speeds.two)];
  const what = 'mp3 of one hour';
  const atLeast = Math.min(1.8, (0.95 * two) / one);
  yield { what, ours, rival: one, rivalName: 'one FFmpeg', unit: '× real time', atLeast };
  yield { what, ours, rival: two, rivalName: 'two FFmpegs', unit: '× real time' };
  yield { what: `${what}, CPU`, ours: median(cpu.ours), rival: median(cpu.one), rivalName: 'one FFmpeg', unit: 's' };

  const size = Number((await fetch(url, { method: 'HEAD' })).headers.get('content-length'));
  const firstBytes: number[] = [];
  for (let count = 0; count < 7; count += 1) {
    firstBytes.push(await firstByteMs(url, { range: `bytes=${Math.floor(size * 0.9) + count * 100_000}-` }));
  }
  yield {
    what: 'mp3, first byte at 90 % of one hour',
    ours: median(firstBytes),
    unit: 'ms',
    atMost: 500,
  };
};
