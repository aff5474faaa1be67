import { join } from 'node:path';
import type { Case } from '../bench.ts';
import { firstByteMs, take } from '../clients.ts';
import { median, seconds, unlessShort } from '../figures.ts';
import { MEDIA_DIR } from '../media.ts';
import { runFfmpeg } from '../rivals.ts';

const HOUR_SECONDS = 3600;
const RUNS = unlessShort(3);
const FIRST_BYTES = unlessShort(7);
const ENCODING = '-vn -ar 48000 -c:a libmp3lame -b:a 192k -reservoir 0 -f mp3 /dev/null'.split(' ');

/**
 * An hour of AAC as MP3, and FFmpeg of the same build with the same encoder settings: one, and two with half an hour
 * each.
 */
export const mp3: Case = async function* ({ origin, stream }) {
  await origin.publish('hour', [{ file: 'hour.m4a', holds: 'audio' }], HOUR_SECONDS);
  const url = `${await stream('hour')}?format=mp3`;
  const encode = (...range: string[]) => runFfmpeg(...range, '-i', join(MEDIA_DIR, 'hour.m4a'), ...ENCODING);
  const speeds = { ours: [] as number[], one: [] as number[], two: [] as number[] };
  const speed = async (work: () => Promise<unknown>) => HOUR_SECONDS / (await seconds(work));
  for (let count = 0; count < RUNS; count += 1) {
    speeds.ours.push(await speed(() => take(url)));
    speeds.one.push(await speed(() => encode()));
    const half = String(HOUR_SECONDS / 2);
    speeds.two.push(await speed(() => Promise.all([encode('-t', half), encode('-ss', half)])));
  }
  const [ours, one, two] = [median(speeds.ours), median(speeds.one), median(speeds.two)];
  const what = 'mp3 of one hour';
  const atLeast = Math.min(1.8, (0.95 * two) / one);
  yield { what, ours, rival: one, rivalName: 'one FFmpeg', unit: '× real time', atLeast };
  yield { what, ours, rival: two, rivalName: 'two FFmpegs', unit: '× real time' };

  const size = Number((await fetch(url, { method: 'HEAD' })).headers.get('content-length'));
  const firstBytes: number[] = [];
  for (let count = 0; count < FIRST_BYTES; count += 1) {
    firstBytes.push(await firstByteMs(url, { range: `bytes=${Math.floor(size * 0.9) + count * 100_000}-` }));
  }
  yield { what: 'mp3, first byte at 90 % of one hour', ours: median(firstBytes), unit: 'ms', atMost: 500 };
};
