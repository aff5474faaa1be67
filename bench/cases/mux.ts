import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Case } from '../bench.ts';
import { firstByteMs, take } from '../clients.ts';
import { inTurn, median, seconds, unlessShort } from '../figures.ts';
import { MEDIA_DIR } from '../media.ts';
import { pairOf } from '../origin.ts';
import { runFfmpeg, runYtDlp } from '../rivals.ts';

const RUNS = unlessShort(7);
const FRAGMENTED = ['-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4'];

/** Separate video and audio of 150 MB over loopback, FFmpeg on the same files, and yt-dlp: all leave an MP4 file behind. */
export const mux: Case = async function* ({ origin, stream }) {
  await origin.publish('pair', pairOf('video.mp4', 'audio.m4a'), 60);
  const url = await stream('pair');
  const inputs = ['video.mp4', 'audio.m4a'].flatMap((file) => ['-i', join(MEDIA_DIR, file)]);
  const folder = await mkdtemp(join(tmpdir(), 'bench-mux-'));
  const file = join(folder, 'muxed.mp4');
  // Into a file that is not there yet: to shorten an old one takes time too.
  const timed = async (work: () => Promise<unknown>) => {
    await rm(file, { force: true });
    return seconds(work);
  };
  const rivals = [
    { rivalName: 'FFmpeg, local files', atMost: 1.3, work: () => runFfmpeg(...inputs, ...FRAGMENTED, file) },
    {
      rivalName: 'yt-dlp',
      work: () => runYtDlp('-q', '-f', 'video+audio', '-o', file, `${origin.baseUrl}/site/pair`),
    },
  ];
  try {
    for (const { work, ...rival } of rivals) {
      const figures = await inTurn(
        RUNS,
        () => timed(() => take(url, file)),
        () => timed(work),
      );
      yield { what: 'mux of 150 MB', ...figures, ...rival, unit: 's' };
    }
  } finally {
    await rm(folder, { recursive: true });
  }

  const firstBytes: number[] = [];
  for (let count = 0; count < RUNS; count += 1) firstBytes.push(await firstByteMs(url));
  yield { what: 'mux, first byte', ours: median(firstBytes), unit: 'ms', atMost: 150 };
};
