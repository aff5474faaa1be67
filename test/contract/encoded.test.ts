import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SECONDS } from '../origin/recipes.ts';
import { inspect, probeBody } from '../support/media-tools.ts';
import { openResponse } from '../support/request.ts';
import { conversionOf, itemOf, renditionOf, sizedConversionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();

/** Rounding of durations in containers, in seconds. */
const ROUNDING = 0.15;
const near = (seconds: number) => [seconds - ROUNDING, seconds + ROUNDING] as const;

function expectDuration(actual: number, expected: number): void {
  const [least, most] = near(expected);
  expect(actual).toBeGreaterThan(least);
  expect(actual).toBeLessThan(most);
}

describe('Combined', () => {
  it.each([
    ['/site/open/x', 'h264-720', ['h264', 'aac'], SECONDS.ladder],
    ['/site/open/x', 'h264-360', ['h264', 'aac'], SECONDS.ladder],
    ['/site/open/x', 'vp9-360', ['vp9', 'aac'], SECONDS.ladder],
    ['/site/open/x', 'av1-180', ['av1', 'aac'], SECONDS.ladder],
    ['/site/watch/x', 'h264-720', ['h264', 'aac'], SECONDS.ladder],
    ['/site/opus-only/x', 'h264-360', ['h264', 'opus'], SECONDS.ladder],
    ['/site/mp3-only/x', 'h264-360', ['h264', 'mp3'], SECONDS.ladder],
    ['/site/long-strict/x', 'long-video', ['h264', 'aac'], SECONDS.long],
    ['/hls/master.m3u8', '', ['h264', 'aac'], SECONDS.ladder],
    ['/dash/number/manifest.mpd', '', ['h264', 'aac'], SECONDS.ladder],
    ['/dash/timeline/manifest.mpd', '', ['h264', 'aac'], SECONDS.ladder],
  ])('muxes %s %s into one MP4 with both tracks and the exact duration', async (link, format, codecs, seconds) => {
    if (format === 'av1-180' && !existsSync(join(target.origin.mediaDir, 'ladder/av1-180.mp4'))) return;
    const { path } = await renditionOf(
      target,
      link,
      'video',
      ({ description, urlType }) => urlType === 'Combined' && (description ?? '').includes(format),
    );
    const { status, headers, body } = await target.get(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'video/mp4',
      'accept-ranges': 'none',
      'content-disposition': expect.stringMatching(/^attachment; filename="?[^"]*\.mp4/),
      'x-content-type-options': 'nosniff',
    });
    // Pairs of files of MP4 and WebM, and of complete lists, have a layout.
    const isLaidOut = (/^(h264|av1|vp9|long)/.test(format) && codecs[1] !== 'mp3') || !link.startsWith('/site/');
    expect(headers['content-length']).toBe(isLaidOut ? String(body.length) : undefined);
    expect(headers['content-location']).toBe(isLaidOut ? path.replace('Combined', 'Media') : undefined);
    const film = await inspect(body, '.mp4');
    expect(film.codecs).toEqual(codecs);
    expect(film.complaints).toBe('');
    expectDuration(film.durationSeconds, seconds);
    for (const stream of film.streams) expectDuration(stream.durationSeconds, seconds);
  });

  it('estimates the length when the sizes are known but not the layout', async () => {
    const { path, fileSizeBytes } = await renditionOf(target, '/site/mp3-only/x');
    const { headers, body } = await target.get(path);
    const estimate = Number(headers['estimated-content-length']);
    expect(estimate).toBeGreaterThan(body.length * 0.9);
    expect(estimate).toBeLessThan(body.length * 1.2);
    expect(fileSizeBytes).toBeGreaterThan(0);
  });

  it('ignores Range', async () => {
    const { path } = await renditionOf(target, '/site/open/x');
    for (const range of ['bytes=0-99', 'bytes=100-', 'bytes=999999999999-']) {
      const { status, headers, body } = await target.get(path, { headers: { range } });
      expect(status).toBe(200);
      expect(headers).not.toHaveProperty('content-range');
      expect(body.subarray(4, 8).toString()).toBe('ftyp');
    }
  });

  it('answers HEAD with the exact length from the headers of both files, read once', async () => {
    const { path } = await renditionOf(target, '/site/open/head-only');
    const seen = target.origin.requestsTo('/site-media/').length;
    const { status, headers, body } = await target.get(path, { method: 'HEAD' });
    expect(status).toBe(200);
    expect(body).toHaveLength(0);
    expect(headers).toMatchObject({ 'content-type': 'video/mp4', 'accept-ranges': 'none' });
    const first = target.origin.requestsTo('/site-media/').length;
    expect(first).toBeLessThanOrEqual(seen + 4);
    expect((await target.get(path, { method: 'HEAD' })).headers['content-length']).toBe(headers['content-length']);
    expect(target.origin.requestsTo('/site-media/')).toHaveLength(first);
    expect(headers['content-length']).toBe(String((await target.get(path)).body.length));
  });

  it('answers HEAD with the size of GET although the page has none', async () => {
    const { path } = await renditionOf(target, '/site/unsized/head');
    const said = (headers: Record<string, unknown>) => Number(headers['content-length']);
    const head = await target.get(path, { method: 'HEAD' });
    expect(said(head.headers)).toBeGreaterThan(0);
    expect(said(head.headers)).toBe(said((await target.get(path)).headers));
  });

  it('sends the first bytes before a slow source has ended', async () => {
    const { path } = await renditionOf(target, '/hls/master.m3u8');
    const { body } = await openResponse(target.baseUrl + path);
    const first: Buffer = await new Promise((resolve) => body.once('data', resolve));
    expect(first.subarray(4, 8).toString()).toBe('ftyp');
    await body.dump({ limit: Number.MAX_SAFE_INTEGER });
  });
});

describe('HLS and DASH', () => {
  it.each([
    ['/hls/ts/index.m3u8', 'video', ['h264', 'aac'], SECONDS.clip],
    ['/hls/aes/index.m3u8', 'video', ['h264', 'aac'], SECONDS.clip],
    ['/hls/muxed.m3u8', 'video', ['h264', 'aac'], SECONDS.clip],
    ['/hls/long/index.m3u8', 'video', ['h264', 'aac'], SECONDS.long],
    ['/site/hls-referer/x', 'video', ['h264', 'aac'], SECONDS.clip],
    ['/hls/master.m3u8', 'audio', ['aac'], SECONDS.ladder],
    ['/hls/fmp4/index.m3u8', 'video', ['h264', 'aac'], SECONDS.clip],
    ['/dash/number/manifest.mpd', 'audio', ['aac'], SECONDS.ladder],
    ['/dash/timeline/manifest.mpd', 'audio', ['aac'], SECONDS.ladder],
  ] as const)('sends %s (%s) as one MP4 file with ranges', async (link, side, codecs, seconds) => {
    const { path, mimeType, fileExtension } = await renditionOf(target, link, side);
    const { status, headers, body } = await target.get(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': mimeType,
      'accept-ranges': 'bytes',
      'content-length': String(body.length),
    });
    const range = { range: 'bytes=100-', 'if-range': headers.etag as string };
    const rest = await target.get(path, { headers: range });
    expect([rest.status, rest.body.equals(body.subarray(100))]).toEqual([206, true]);
    const film = await inspect(body, fileExtension ?? '');
    expect(film.format).toContain('mp4');
    expect(film.codecs).toEqual(codecs);
    expect(film.complaints).toBe('');
    expectDuration(film.durationSeconds, seconds);
  });
});

describe('format=mp3', () => {
  it.each([
    ['/files/clip.mp4', SECONDS.clip],
    ['/files/clip.webm', SECONDS.clip],
    ['/files/tone.m4a', SECONDS.clip],
    ['/files/tone.ogg', SECONDS.clip],
    ['/files/tone.flac', SECONDS.clip],
    ['/files/tone.wav', SECONDS.clip],
    ['/site/watch/x', SECONDS.ladder],
    ['/site/combined/x', SECONDS.ladder],
    ['/hls/ts/index.m3u8', SECONDS.clip],
    ['/hls/master.m3u8', SECONDS.ladder],
    ['/dash/number/manifest.mpd', SECONDS.ladder],
  ])('of %s has the promised size and the duration of the source', async (link, seconds) => {
    const { path, fileSizeBytes } = await sizedConversionOf(target, link);
    const { status, headers, body } = await target.get(path);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('audio/mpeg');
    expect(headers['content-length']).toBe(String(fileSizeBytes));
    expect(body).toHaveLength(fileSizeBytes ?? -1);
    const head = await target.get(path, { method: 'HEAD' });
    for (const name of ['content-length', 'accept-ranges', 'etag']) expect(head.headers[name]).toBe(headers[name]);
    const sound = await inspect(body, '.mp3');
    expect(sound.codecs).toEqual(['mp3']);
    expect(sound.complaints).toBe('');
    expectDuration(sound.durationSeconds, seconds);
  });

  it('contains title and artist', async () => {
    const { path } = await conversionOf(target, '/site/combined/tags');
    const { tags } = await probeBody((await target.get(path)).body, '.mp3');
    expect(tags).toMatchObject({ title: 'Größe “tags”: eins/zwei', artist: 'Ärtist Example' });
  });

  it('converts every Media rendition with audio, not only the offered one', async () => {
    const { audio } = await itemOf(target, '/site/open/x');
    for (const { key } of audio?.renditions ?? []) {
      const { status, body } = await target.get(`/api/Stream/Media/${key}?format=mp3`);
      expect(status).toBe(200);
      expect((await probeBody(body, '.mp3')).codecs).toEqual(['mp3']);
    }
  });
});

describe('live', () => {
  /** Reads the first bytes of a stream, then disconnects. */
  async function listen(path: string) {
    const leaving = new AbortController();
    const { status, headers, body } = await openResponse(target.baseUrl + path, { signal: leaving.signal });
    const first: Buffer = await new Promise((resolve) => body.once('data', resolve));
    body.on('error', () => undefined);
    leaving.abort();
    return { status, headers, first };
  }

  it.each(['/live/index.m3u8', '/site/live/x'])('sends %s from the live position, without ranges', async (link) => {
    const { path } = await renditionOf(target, link);
    const { status, headers, first } = await listen(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'video/mp4', 'accept-ranges': 'none' });
    expect(headers).not.toHaveProperty('content-length');
    expect(first.subarray(4, 8).toString()).toBe('ftyp');
  });

  it('sends web radio, a file without end', async () => {
    const { path } = await renditionOf(target, '/live/radio.mp3', 'audio');
    const { status, headers } = await listen(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'audio/mpeg', 'accept-ranges': 'none' });
    expect(headers).not.toHaveProperty('content-length');
  });
});
