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

const load = async (file: string, options?: Parameters<typeof fileSource>[1]) =>
  fileSource(await readFile(join(media, file)), options);

const resource = resourceOf([videoTrack({ sizeBytes: 1000 }), audioTrack({ sizeBytes: 200 })], { durationSeconds: 8 });

async function start(video: Source | OpenSource, audio: Source | OpenSource, of = resource): Promise<string> {
  service = await startService(of, { video, audio });
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
    const video = { ...(await load('ladder/h264-360.mp4')), size: undefined };
    const audio = { ...(await load('ladder/aac-128.m4a')), size: undefined };
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
      const { status, body } = await sendRequest(dead === 'video' ? await start(gone, live) : await start(live, gone));
      expect(status).toBe(404);
      expect(JSON.parse(body.toString())).toEqual({
        type: '/problems/not-found',
        title: 'Resource Not Found',
        status: 404,
      });
      await until(() => closed.length === 1);
    },
  );

  it('answers 502 for a truncated file, by its index', async () => {
    const whole = await readFile(join(media, 'ladder/h264-360.mp4'));
    const cut = fileSource(whole.subarray(0, whole.length * 0.6));
    expect((await sendRequest(await start(cut, await load('ladder/aac-128.m4a')))).status).toBe(502);
  });

  it('never completes for a truncated file without an index', async () => {
    const whole = await readFile(join(media, 'ladder/vp9-360.webm'));
    const url = await start(fileSource(whole.subarray(0, whole.length * 0.6)), await load('ladder/opus-96.webm'));
    const outcome = await statusOrBroken(sendRequest(url));
    expect(['broken', 502]).toContain(outcome);
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

  it('needs FFmpeg only for other files than MP4', async () => {
    const sources = { video: await load('ladder/h264-360.mp4'), audio: await load('ladder/aac-128.m4a') };
    service = await startService(resource, sources, { ffmpeg: () => undefined });
    expect((await sendRequest(`${service.url}/api/Stream/Combined/${combinedKey()}`)).status).toBe(200);
    const webm = { video: await load('ladder/vp9-360.webm'), audio: await load('ladder/opus-96.webm') };
    service = await startService(resource, webm, { ffmpeg: () => undefined });
    expect((await sendRequest(`${service.url}/api/Stream/Combined/${combinedKey()}`)).status).toBe(503);
  });
});
