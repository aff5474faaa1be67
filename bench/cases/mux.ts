import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installedTools } from '../../test/support/installed-tools.ts';
import type { Case } from '../bench.ts';
import { firstByteMs, take } from '../clients.ts';
import { inTurn, median, seconds } from '../figures.ts';
import { MEDIA_DIR } from '../media.ts';
import { pairOf } from '../origin.ts';

const run = promisify(execFile);
const RUNS = 7;
const FRAGMENTED = ['-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4'];

/** Separate video and audio of 150 MB over loopback, and FFmpeg on the same files: both leave an MP4 file behind. */
export const mux: Case = async function* ({ origin, stream }) {
  const { ffmpeg } = await installedTools();
  await origin.publish('pair', pairOf('video.mp4', 'audio.m4a'), 60);
  const url = await stream('pair');
  const inputs = ['video.mp4', 'audio.m4a'].flatMap((file) => ['-i', join(MEDIA_DIR, file)]);
  const folder = await mkdtemp(join(tmpdir(), 'bench-mux-'));
  const [mine, theirs] = [join(folder, 'ours.mp4'), join(folder, 'rival.mp4')];
  // Each into a file that is not there yet: to shorten an old one takes time too.
  const withFreshFile = async (file: string, work: () => Promise<unknown>) => {
    await rm(file, { force: true });
    return seconds(work);
  };
  const figures = await inTurn(
    RUNS,
    () => withFreshFile(mine, () => take(url, mine)),
    () => withFreshFile(theirs, () => run(ffmpeg.path, ['-nostdin', '-v', 'error', ...inputs, ...FRAGMENTED, theirs])),
  );
  await rm(folder, { recursive: true });
  yield { what: 'mux of 150 MB', ...figures, rivalName: 'FFmpeg, local files', unit: 's', atMost: 1.3 };

  const firstBytes: number[] = [];
  for (let count = 0; count < RUNS; count += 1) firstBytes.push(await firstByteMs(url));
  yield {
    what: 'mux, first byte',
    ours: median(firstBytes),
    unit: 'ms',
    atMost: 150,
  };
};
