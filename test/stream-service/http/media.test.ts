import { randomBytes } from 'node:crypto';
import type { FileSource } from '@reelay/source';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { problems } from '../../../core/api/problem.ts';
import { StateUnavailable } from '../../../core/errors/index.ts';
import type { Resource } from '../../../core/state/resource.ts';
import type { OpenSource } from '../../../stream-service/source/open-source.ts';
import { sendRequest } from '../../support/request.ts';
import {
  audioTrack,
  combinedKey,
  expectUnsized,
  renditionOf,
  resourceOf,
  type Service,
  type ServiceFixtureOptions,
  startService,
  trackOf,
  videoTrack,
} from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const bytes = randomBytes(300_000);
/** The same source without a known size. */
const unsized = (source: FileSource): FileSource => ({ ...source, size: undefined });
const serve = (source: FileSource | OpenSource, options: ServiceFixtureOptions = {}, traits: Partial<Resource> = {}) =>
  startService(resourceOf([trackOf('file')], traits), { file: source }, options);

/** Of which resolving has told the size. */
const SIZED = { tracks: [trackOf('file', { sizeBytes: bytes.length, sizeIsExact: true })] };

describe('a direct file', () => {
  let service: Service;
  let url: string;
  beforeAll(async () => {
    service = await serve(fileSource(bytes), {}, SIZED);
    url = service.media('file');
  });

  it.each(['GET', 'HEAD'])('has the name that the client chooses, outside of shared caches: %s', async (method) => {
    const { headers } = await sendRequest(`${url}?name=${encodeURIComponent('../A "b": 1080p.exe')}&name=other`, {
      method,
    });
    expect(headers['content-disposition']).toBe(
      `attachment; filename="A b 1080p.exe.mp4"; filename*=UTF-8''A%20b%201080p.exe.mp4`,
    );
    expect(headers['cache-control']).toMatch(/^private, max-age=3600/);
    const blank = await sendRequest(`${url}?name=+`);
    expect(blank.headers['content-disposition']).toBe(
      `attachment; filename="Someone - A clip.mp4"; filename*=UTF-8''Someone%20-%20A%20clip.mp4`,
    );
    expect(blank.headers['cache-control']).toMatch(/^public/);
  });

  it('extends the expiry', async () => {
    await sendRequest(url);
    expect(service.touched.length).toBeGreaterThan(0);
  });
});

describe('the size of a file that resolving does not tell', () => {
  const read = async (source: FileSource, more: Partial<Resource> = {}, method = 'GET') => {
    const service = await serve(source, { isPeeked: true }, more);
    await sendRequest(service.media('file'), { method }).catch(() => undefined);
    await service.close();
    return [...service.sizes];
  };
  const recorded = [[renditionOf(['file']).id, bytes.length]];

  it('is stored once the source says it', async () => {
    expect(await read(fileSource(bytes))).toEqual(recorded);
    expect(await read(fileSource(bytes), {}, 'HEAD')).toEqual(recorded);
  });

  it('is stored once a source that does not say it has sent all', async () => {
    expect(await read(unsized(fileSource(bytes)))).toEqual(recorded);
  });

  it.each<[string, FileSource, Partial<Resource>]>([
    ['of a body that breaks off', unsized(fileSource(bytes, { cutAt: 131_072 })), {}],
    ['of a live stream', unsized(fileSource(bytes)), { isLive: true }],
    ['that is known', fileSource(bytes), { exactSizes: { [renditionOf(['file']).id]: bytes.length } }],
    ['that resolving has told', fileSource(bytes), SIZED],
  ])('is not stored: %s', async (_, source, more) => expect(await read(source, more)).toEqual([]));

  it('is not that of one side of a pair', async () => {
    const tracks = [videoTrack(), audioTrack({ audio: { codec: 'mp4a.40.2' } })];
    const service = await startService(resourceOf(tracks), { audio: fileSource(bytes) });
    const { status } = await sendRequest(`${service.url}/api/Stream/Media/${combinedKey()}?format=m4a`);
    expect([status, service.sizes.size]).toEqual([200, 0]);
  });
});

describe('a failing or incomplete source', () => {
  // Statuses of other failures, and what breaks off: test/faults/sources.all.test.ts.
  it('is answered when it is empty', async () => {
    const { status, headers, body } = await sendRequest((await serve(fileSource(Buffer.alloc(0)))).media('file'));
    const problem = { type: '/problems/site-error', title: 'Fetch Failed', status: 502 };
    expect([status, JSON.parse(body.toString())]).toEqual([502, problem]);
    expect(headers['cache-control']).toBe('no-store');
  });

  it('is opened with the range that the client requests', async () => {
    const asked: unknown[] = [];
    const open: OpenSource = async (_resource, _track, opening) => {
      asked.push(opening?.range);
      return fileSource(bytes);
    };
    const service = await serve(open);
    const url = service.media('file');
    for (const range of ['bytes=1000-1009', 'bytes=1000-', 'bytes=-5']) await sendRequest(url, { headers: { range } });
    expect(asked).toEqual([{ first: 1000, last: 1009 }, { first: 1000 }, { first: 0 }]);
  });

  it('is sent whole, without length and ranges, when its size is unknown', async () => {
    const service = await serve(unsized(fileSource(bytes)));
    const url = service.media('file');
    const { headers, body } = await expectUnsized(url, { headers: { range: 'bytes=0-9' } });
    expect([headers.etag, body.equals(bytes)]).toEqual([undefined, true]);
    const head = await sendRequest(url, { method: 'HEAD' });
    expect([head.status, head.headers['content-length']]).toEqual([200, undefined]);
  });

  it('has a different ETag for a different size or validator', async () => {
    const etags = new Set<string | undefined>();
    for (const source of [
      fileSource(bytes),
      { ...fileSource(bytes), validator: '"other"' },
      fileSource(bytes.subarray(1)),
    ]) {
      const service = await serve(source);
      etags.add((await sendRequest(service.media('file'))).headers.etag);
    }
    expect(etags.size).toBe(3);
  });
});

describe('a conversion while FFmpeg is missing', () => {
  const missing = { ffmpeg: () => undefined };

  it.each([
    ['Downloading FFmpeg', async () => undefined],
    ['Updating FFmpeg', async () => 'Updating FFmpeg'],
    ['Downloading FFmpeg', () => Promise.reject(new StateUnavailable('no table'))],
  ])('answers 503 titled %j without opening the source', async (title, maintenance) => {
    const open = vi.fn(async () => fileSource(bytes));
    const service = await serve(open, { ...missing, maintenance });
    const { status, headers, body } = await sendRequest(`${service.media('file')}?format=mp3`);
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('5');
    expect(JSON.parse(body.toString())).toMatchObject({ title, status: 503 });
    expect(open).not.toHaveBeenCalled();
  });

  it('answers HEAD with what the table knows', async () => {
    const resource = resourceOf([trackOf('file', { sizeBytes: 1000 })], {
      durationSeconds: 1,
      title: null,
      author: null,
    });
    const service = await startService(resource, {}, missing);
    const url = `${service.media('file')}?format=mp3`;
    const { status, headers } = await sendRequest(url, { method: 'HEAD' });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'audio/mpeg',
      'content-length': String(44 * 576),
      'accept-ranges': 'bytes',
    });
  });
});

describe('HEAD with a source that can be inspected', () => {
  // With a length: the matrix (test/stream-service/matrix), and test/contract/media.test.ts.
  it('has no length of a conversion whose duration is unknown', async () => {
    const service = await serve(fileSource(bytes), { isPeeked: true });
    const { status, headers } = await sendRequest(`${service.media('file')}?format=mp3`, { method: 'HEAD' });
    expect([status, headers['content-length']]).toEqual([200, undefined]);
  });

  it.each<[string, OpenSource, number]>([
    ['the source fails', () => Promise.reject(problems.notFound()), 1],
    ['no slot is free', async () => fileSource(bytes), 0],
  ])('answers with what the table knows when %s', async (_, source, maxStreams) => {
    const limits = { maxStreams, maxStreamsPerClient: 1, maxFfmpeg: 1 };
    const service = await serve(source, { isPeeked: true, limits });
    const { status, headers } = await sendRequest(service.media('file'), { method: 'HEAD' });
    expect([status, headers]).toMatchObject([200, { 'content-type': 'video/mp4', 'accept-ranges': 'bytes' }]);
    expect(headers).not.toHaveProperty('content-length');
  });
});
