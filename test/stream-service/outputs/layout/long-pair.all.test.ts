import { readFile } from 'node:fs/promises';
import { ByteReader, readFileHeaders } from '@reelay/seekable-media/reading';
import { beforeAll, describe, expect, it } from 'vitest';
import { createLayout } from '../../../../packages/seekable-media/src/virtual-mp4/create-layout.ts';
import { newestFfmpeg } from '../../../support/installed-tools.ts';
import { runProgram } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { audioTrack, combinedKey, resourceOf, startService, videoTrack } from '../../fixture.ts';
import { usePairMedia } from './pair-fixture.ts';
import { repeatSamples } from './repeated-source.ts';

const never = new AbortController().signal;
const MB = 1024 * 1024;
/** Ten hours of a file of eight seconds. */
const TIMES = 4500;

const media = await usePairMedia();

async function startLongPair(isMovieLast: boolean) {
  const [video, audio] = await Promise.all(
    ['bframes.mp4', 'ladder/aac-128.m4a'].map((file) => readFile(media.pathOf(file))),
  );
  if (!video || !audio) throw new Error('unreachable');
  const sources = {
    video: repeatSamples(video, { kind: 'vide', times: TIMES, isMovieLast }),
    audio: repeatSamples(audio, { kind: 'soun', times: TIMES, isMovieLast }),
  };
  const service = await startService(resourceOf([videoTrack(), audioTrack()], { durationSeconds: 36_000 }), sources);
  return { ...sources, url: `${service.url}/api/Stream/Media/${combinedKey()}` };
}

/** Digests of the packets of two streams. */
async function digestsOf(input: readonly string[], program = 'ffmpeg') {
  const { output } = await runProgram(program, [
    '-nostdin',
    '-v',
    'error',
    ...input,
    '-c',
    'copy',
    '-f',
    'framemd5',
    '-',
  ]);
  const of = (stream: number) =>
    [...output.matchAll(new RegExp(`^${stream},.* (\\w{32})`, 'gm'))].map(([, digest]) => digest);
  return [of(0), of(1)] as const;
}

describe.each([
  { place: 'in front of', isMovieLast: false, program: 'the FFmpeg of this machine', ffmpeg: async () => 'ffmpeg' },
  { place: 'behind', isMovieLast: true, program: 'the newest FFmpeg', ffmpeg: newestFfmpeg },
])('a pair of ten hours and more than 4 GiB, moov $place the media', ({ isMovieLast, program, ffmpeg }) => {
  let pair: Awaited<ReturnType<typeof startLongPair>>;
  beforeAll(async () => {
    pair = await startLongPair(isMovieLast);
  });

  it('has a compact layout', async () => {
    const { url, video, audio } = pair;
    const [videoHeader, audioHeader] = await Promise.all(
      [video, audio].map((file) => readFileHeaders(new ByteReader(file), { signal: never })),
    );
    if (!videoHeader || !audioHeader) throw new Error('unreachable');
    expect(videoHeader.movie.bytes.length + audioHeader.movie.bytes.length).toBeGreaterThan(20 * MB);
    const layout = createLayout([videoHeader, audioHeader]);
    expect(layout.memoryBytes).toBeLessThan(6 * MB);
    expect(layout.size).toBeGreaterThan(4 * 2 ** 30);

    const { headers } = await sendRequest(url, { headers: { range: 'bytes=0-9' } });
    expect(headers['content-range']).toBe(`bytes 0-9/${layout.size}`);
    // The header consists of the layout's own bytes and tables of the sources: any cut of it gives the same bytes.
    const { mediaStart } = layout;
    const whole = (await sendRequest(url, { headers: { range: `bytes=0-${mediaStart + 99}` } })).body;
    const parts: Buffer[] = [];
    for (let first = 0; first < whole.length; first += 3_333_333) {
      const last = Math.min(first + 3_333_333, whole.length) - 1;
      parts.push((await sendRequest(url, { headers: { range: `bytes=${first}-${last}` } })).body);
    }
    expect(Buffer.concat(parts).equals(whole)).toBe(true);
  });

  it(`is demuxed at nine hours by ${program}`, async () => {
    const { url, video } = pair;
    const [expected] = await digestsOf(['-i', media.pathOf('bframes.mp4')]);
    // The beginning of a repetition.
    const start = Math.floor(32_400 / video.unitSeconds) * video.unitSeconds;
    const input = ['-ss', String(start), '-i', url, '-map', '0', '-frames:v', '100'];
    const [got, sound] = await digestsOf(input, await ffmpeg());
    expect(got.length).toBe(100);
    const first = expected.indexOf(got[0]);
    expect(first).toBeGreaterThanOrEqual(0);
    expect(got).toEqual([...expected, ...expected].slice(first, first + 100));
    expect(sound.length).toBeGreaterThan(150);
  });
});
