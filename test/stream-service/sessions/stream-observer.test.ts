import { beforeEach, describe, expect, it } from 'vitest';
import type { StreamObserver } from '../../../stream-service/sessions/stream-sessions.ts';
import { sendRequest } from '../../support/request.ts';
import {
  audioTrack,
  combinedKey,
  ffmpeg,
  mediaKey,
  openResponse,
  resourceOf,
  type Service,
  startService,
  until,
  videoTrack,
} from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const CONTENT = Buffer.alloc(5_000_000, 'content');
let service: Service;
let seen: { running: number; begun: number; ffmpegFailures: number };
let bytesSent: () => number;
beforeEach(async () => {
  seen = { running: 0, begun: 0, ffmpegFailures: 0 };
  const observer: StreamObserver = {
    onStreamStart(bytes) {
      bytesSent = bytes;
      seen.begun += 1;
      seen.running += 1;
      return () => {
        seen.running -= 1;
      };
    },
    onFfmpegFailure() {
      seen.ffmpegFailures += 1;
    },
  };
  const resource = resourceOf([videoTrack({ container: 'webm' }), audioTrack({ container: 'webm' })]);
  service = await startService(
    resource,
    { video: fileSource(CONTENT), audio: fileSource(CONTENT) },
    { observer, ffmpeg: () => ({ ...ffmpeg, path: '/bin/false' }) },
  );
});
const url = (key: string, type = 'Media') => `${service.url}/api/Stream/${type}/${key}`;

describe('StreamObserver', () => {
  it('receives a stream while it is sent, with its bytes, headers included', async () => {
    const { body } = await sendRequest(url(mediaKey('video')));
    expect(body.length).toBe(CONTENT.length);
    await until(() => seen.running === 0);
    expect(seen.begun).toBe(1);
    expect(bytesSent()).toBeGreaterThan(CONTENT.length);
    expect(bytesSent()).toBeLessThan(CONTENT.length + 1_000);
  });

  it('receives the end of a stream whose client disconnects', async () => {
    const answer = await openResponse(url(mediaKey('video')));
    expect(seen).toMatchObject({ begun: 1, running: 1 });
    answer.destroy();
    await until(() => seen.running === 0);
  });

  it.each<[string, () => string, Parameters<typeof sendRequest>[1], number]>([
    ['an unknown key', () => url('unknown'), {}, 404],
    ['a range that cannot be satisfied', () => url(mediaKey('video')), { headers: { range: 'bytes=9000000-' } }, 416],
    ['a HEAD', () => url(mediaKey('video')), { method: 'HEAD' }, 200],
  ])('receives nothing for %s', async (_, of, options, status) => {
    expect((await sendRequest(of(), options)).status).toBe(status);
    expect(seen).toEqual({ running: 0, begun: 0, ffmpegFailures: 0 });
  });

  it.each([
    ['a mux', () => url(combinedKey(), 'Combined')],
    ['a conversion', () => `${url(mediaKey('audio'))}?format=mp3`],
  ])('receives an FFmpeg failure in %s, and no stream', async (_, of) => {
    expect((await sendRequest(of())).status).toBe(502);
    expect(seen).toMatchObject({ begun: 0, running: 0 });
    expect(seen.ffmpegFailures).toBeGreaterThan(0);
  });
});
