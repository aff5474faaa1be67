import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installedTools } from '../../test/support/installed-tools.ts';
import type { Case } from '../bench.ts';
import { firstByteMs, take } from '../clients.ts';
import { inTurn, median, seconds } from '../figures.ts';
import { MEDIA_DIR } from '../media.ts';

const run = promisify(execFile);

/** An hour of AAC as MP3, and one FFmpeg with the same encoder settings. */
export const mp3: Case = async function* ({ origin, sizes, stream }) {
  const { ffmpeg } = await installedTools();
  const bytes = sizes['hour.m4a'] ?? 0;
  await origin.publish(
    'hour',
    [{ id: 'a', path: '/media/hour.m4a', vcodec: 'none', acodec: 'mp4a.40.2', bytes }],
    3600,
  );
  const url = `${await stream('hour', 'audio')}?format=mp3`;
  const figures = await inTurn(
    3,
    async () => 3600 / (await seconds(() => take(url))),
    async () =>
      3600 /
      (await seconds(() =>
        run(ffmpeg.path, [
          '-nostdin',
          '-v',
          'error',
          '-y',
          '-i',
          join(MEDIA_DIR, 'hour.m4a'),
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
        ]),
      )),
  );
  yield { what: 'mp3 of one hour', ...figures, rivalName: 'one FFmpeg', unit: '× real time', atLeast: 1.8 };

  const size = Number((await fetch(url, { method: 'HEAD' })).headers.get('content-length'));
  const firstBytes: number[] = [];
  for (let count = 0; count < 7; count += 1) {
    firstBytes.push(await firstByteMs(url, { range: `bytes=${Math.floor(size * 0.9) + count * 100_000}-` }));
  }
  yield {
    what: 'mp3, first byte at 90 % of one hour',
    ours: median(firstBytes),
    rival: Number.NaN,
    rivalName: '',
    unit: 'ms',
    atMost: 500,
  };
};
