import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { probe, runProgram } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { AUDIO_RATE, decode, type Files, once, startMedia } from './clip-fixture.ts';
import { usePairMedia } from './pair-fixture.ts';

const media = await usePairMedia();
/** Behind the last start. */
const DECODED_SECONDS = 40;
const decodeSource = once((files: Files) => decode(files, DECODED_SECONDS));

const start = async (...files: Files) => {
  const { url, sources } = await startMedia(media, files);
  return { url: url.replace('/Media/', '/Combined/'), sources };
};

/** When the keyframes of a file are shown, in seconds. */
const keyframes = once(async (file: string) => {
  const packets = ['-select_streams', 'v:0', '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0'];
  const { output } = await runProgram('ffprobe', ['-v', 'error', ...packets, media.pathOf(file)]);
  return [...output.matchAll(/^([\d.]+),K/gm)].map(([, seconds]) => Number(seconds)).toSorted((a, b) => a - b);
});

const detailOf = ({ body }: { readonly body: Buffer }) => JSON.parse(body.toString()).detail;

describe('Combined from a time on', () => {
  it.each<readonly [Files, number]>([
    [['indexed.mp4', 'indexed.m4a'], 23.4],
    [['long-video.mp4', 'long-audio.m4a'], 21.05],
    [['long-video.mp4', 'long-audio.m4a'], 22.5],
    [['bframes.mp4', 'short-indexed.m4a'], 2.4],
    [['vp9.mp4', 'opus.mp4'], 1.5],
    [['ladder/both-360.mp4'], 2.5],
    [['muxed-indexed.mp4'], 33.25],
  ])('begins %j with the keyframe at or before %d, with the sound of that moment', async (files, seconds) => {
    const { url } = await start(...files);
    const { status, headers, body } = await sendRequest(`${url}?start=${seconds}`);
    expect([status, headers['accept-ranges'], headers['content-length']]).toEqual([200, 'none', String(body.length)]);
    const keyframe = (await keyframes(files[0])).findLast((time) => time <= seconds) ?? Number.NaN;
    expect(Number(headers['x-argon-start'])).toBeCloseTo(keyframe, 3);

    const file = join(media.folder, `from-${files[0].replaceAll('/', '-')}-${seconds}.mp4`);
    await writeFile(file, body);
    const part = await decode([file]);
    expect(part.complaints).toBe('');
    const [video, audio] = files;
    const whole = await decodeSource(audio ? [media.pathOf(video), media.pathOf(audio)] : [media.pathOf(video)]);
    const first = whole.frames.findLast((frame) => frame.seconds <= keyframe + 1e-3);
    expect(part.frames[0]).toEqual({ seconds: 0, digest: first?.digest });
    // Not silent until the requested time: a second from the keyframe on is as loud as in the whole.
    const loudness = (samples: Int16Array, from: number) =>
      samples.subarray(from, from + AUDIO_RATE / 2).reduce((sum, sample) => sum + Math.abs(sample), 0);
    const at = Math.round(keyframe * AUDIO_RATE);
    expect(loudness(part.samples, 4800) / loudness(whole.samples, at + 4800)).toBeCloseTo(1, 1);
    const { durationSeconds } = await probe(media.pathOf(video));
    expect((await probe(file)).durationSeconds).toBeCloseTo(durationSeconds - keyframe, 0);
  });

  it('answers HEAD as GET, whatever its range', async () => {
    const { url } = await start('long-video.mp4', 'long-audio.m4a');
    const headers = { range: 'bytes=5-9' };
    const [head, whole] = await Promise.all(
      ['HEAD', 'GET'].map((method) => sendRequest(`${url}?start=23.4`, { method, headers })),
    );
    expect(whole?.status).toBe(200);
    // The fixture has no source to look into for HEAD, which then says what is known without it.
    expect(head?.status).toBe(200);
    for (const name of ['content-type', 'accept-ranges', 'cache-control'])
      expect(head?.headers[name]).toBe(whole?.headers[name]);
  });

  it('of audio alone begins at the time itself', async () => {
    const { url } = await start('ladder/aac-128.m4a');
    const { status, headers } = await sendRequest(`${url}?start=1.5`);
    expect([status, headers['x-argon-start']]).toEqual([200, '1.500']);
  });

  it('of files that cannot be sought in is 400 with the reason', async () => {
    const { url } = await start('unindexed.mp4', 'indexed.m4a');
    const answer = await sendRequest(`${url}?start=1`);
    expect([answer.status, detailOf(answer)]).toEqual([400, expect.stringMatching(/index/)]);
  });

  it('reads the audio from the keyframe on, and neither file before it', async () => {
    const { url, sources } = await start('indexed.mp4', 'indexed.m4a');
    await sendRequest(`${url}?start=150`, { maxBytes: 100 });
    for (const { reads, size = 0 } of sources) {
      const places = reads.map(({ first }) => first / size).filter((place) => place > 0.05);
      expect(Math.min(...places)).toBeGreaterThan(0.45);
    }
  });
});
