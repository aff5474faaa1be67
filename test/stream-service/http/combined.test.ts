import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '@reelay/source';
import { afterEach, describe, expect, it } from 'vitest';
import { problems } from '../../../core/api/problem.ts';
import { runningFfmpegs } from '../../../stream-service/ffmpeg/run-ffmpeg.ts';
import type { OpenSource } from '../../../stream-service/source/open-source.ts';
import { ensureMedia } from '../../origin/media.ts';
import { inspect, probeBody } from '../../support/media-tools.ts';
import { sendRequest, statusOrBroken } from '../../support/request.ts';
import {
  audioTrack,
  combinedKey,
  openResponse,
  resourceOf,
  type Service,
  type ServiceFixtureOptions,
  startService,
  until,
  videoTrack,
} from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const media = await ensureMedia();
let service: Service | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
  expect(runningFfmpegs()).toBe(0);
});

/** @param part how much of the file there is */
const load = async (file: string, part = 1) => {
  const bytes = await readFile(join(media, file));
  return fileSource(bytes.subarray(0, bytes.length * part));
};
const H264 = 'ladder/h264-360.mp4';
const AAC = 'ladder/aac-128.m4a';
const WEBM = ['ladder/vp9-360.webm', 'ladder/opus-96.webm'] as const;

const resource = resourceOf([videoTrack({ sizeBytes: 1000 }), audioTrack({ sizeBytes: 200 })], { durationSeconds: 8 });

async function start(
  video: Source | OpenSource,
  audio: Source | OpenSource,
  of = resource,
  options: ServiceFixtureOptions = {},
): Promise<string> {
  service = await startService(of, { video, audio }, options);
  return `${service.url}/api/Stream/Combined/${combinedKey()}`;
}

describe('Combined', () => {
  // Pairs of other codecs, their headers and ranges are in test/contract/encoded.test.ts.
  it('copies a file whose moov is at its end, and FLAC, into one MP4', async () => {
    const url = await start(await load('clip-tail.mp4'), await load('tone.flac'), { ...resource, durationSeconds: 6 });
    const { status, headers, body } = await sendRequest(url);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-disposition': expect.stringContaining('Someone - A clip.mp4'),
    });
    const { codecs, durationSeconds, complaints } = await inspect(body, '.mp4');
    expect([codecs, complaints]).toEqual([['h264', 'flac'], '']);
    expect(durationSeconds).toBeCloseTo(6, 1);
  });

  it('reads inputs of unknown size', async () => {
    const video = { ...(await load(H264)), size: undefined };
    const audio = { ...(await load(AAC)), size: undefined };
    const { headers, body } = await sendRequest(await start(video, audio));
    expect(headers['estimated-content-length']).toBe('1200');
    expect((await probeBody(body, '.mp4')).codecs).toEqual(['h264', 'aac']);
  });

  it('answers HEAD without opening a source', async () => {
    const never = () => Promise.reject(new Error('opened'));
    const { status, headers, body } = await sendRequest(await start(never, never), { method: 'HEAD' });
    expect(status).toBe(200);
    expect(body.length).toBe(0);
    expect(headers).toMatchObject({
      'content-type': 'video/mp4',
      'accept-ranges': 'none',
      'estimated-content-length': '1200',
    });
  });

  it.each(['video', 'audio'])(
    'answers with the status of a %s that fails to open, and closes the other',
    async (dead) => {
      const closed: string[] = [];
      const live: OpenSource = async () => ({ ...(await load('tone.m4a')), close: () => closed.push(dead) });
      const gone = () => Promise.reject(problems.notFound());
      const { status } = await sendRequest(dead === 'video' ? await start(gone, live) : await start(live, gone));
      expect(status).toBe(404);
      await until(() => closed.length === 1);
    },
  );

  it.each([
    ['by its index', H264, AAC, [502]],
    ['without one', ...WEBM, ['broken', 502]],
  ] as const)('never completes for a truncated file: %s', async (_, video, audio, outcomes) => {
    const url = await start(await load(video, 0.6), await load(audio));
    expect(outcomes).toContain(await statusOrBroken(sendRequest(url)));
  });

  it.each([
    ['both sources', 'mp4', 0],
    ['FFmpeg and both sources', 'mkv', 1],
  ])('ends %s when the client disconnects', async (_name, container, processes) => {
    const video = await load('long-video.mp4');
    const audio = await load('long-audio.m4a');
    const answer = await openResponse(await start(video, audio, resourceOf([videoTrack({ container }), audioTrack()])));
    expect(runningFfmpegs()).toBe(processes);
    answer.destroy();
    await until(() => runningFfmpegs() === 0 && video.reading.size + audio.reading.size === 0);
  });

  it.each([
    ['does not need FFmpeg for MP4', H264, AAC, 200],
    ['needs FFmpeg for other files', ...WEBM, 503],
  ] as const)('%s', async (_, video, audio, status) => {
    const url = await start(await load(video), await load(audio), resource, { ffmpeg: () => undefined });
    expect((await sendRequest(url)).status).toBe(status);
  });
});
