import { createHash, randomBytes } from 'node:crypto';
import type { FileSource } from '@reelay/source';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { createProblem, problems } from '../../../core/api/problem.ts';
import { StateUnavailable } from '../../../core/errors/index.ts';
import type { Resource } from '../../../core/state/resource.ts';
import type { OpenSource } from '../../../stream-service/source/open-source.ts';
import { sendRequest } from '../../support/request.ts';
import {
  audioTrack,
  combinedKey,
  renditionOf,
  resourceOf,
  type Service,
  startService,
  trackOf,
  videoTrack,
} from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const bytes = randomBytes(300_000);
/** The same source without a known size. */
const unsized = (source: FileSource): FileSource => ({ ...source, size: undefined });
const sha256 = (body: Buffer) => createHash('sha256').update(body).digest('hex');

describe('a direct file', () => {
  const source = fileSource(bytes);
  const track = trackOf('file', { sizeBytes: bytes.length, sizeIsExact: true });
  let service: Service;
  let url: string;
  beforeAll(async () => {
    service = await startService(resourceOf([track]), { file: source });
    url = service.media('file');
  });

  it('is sent as an attachment with its name', async () => {
    expect((await sendRequest(url)).headers['content-disposition']).toBe(
      `attachment; filename="Someone - A clip.mp4"; filename*=UTF-8''Someone%20-%20A%20clip.mp4`,
    );
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
    expect(blank.headers['content-disposition']).toContain('filename="Someone - A clip.mp4"');
    expect(blank.headers['cache-control']).toMatch(/^public/);
  });

  it('extends the expiry', async () => {
    await sendRequest(url);
    expect(service.touched.length).toBeGreaterThan(0);
  });
});

describe('the size of a file that resolving does not tell', () => {
  const read = async (source: FileSource, more: Partial<Resource> = {}, method = 'GET') => {
    const resource = resourceOf([trackOf('file')], more);
    const service = await startService(resource, { file: source }, { peekSource: async () => source });
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
    [
      'that resolving has told',
      fileSource(bytes),
      { tracks: [trackOf('file', { sizeBytes: bytes.length, sizeIsExact: true })] },
    ],
  ])('is not stored: %s', async (_, source, more) => expect(await read(source, more)).toEqual([]));

  it('is not that of one side of a pair', async () => {
    const tracks = [videoTrack(), audioTrack({ audio: { codec: 'mp4a.40.2' } })];
    const service = await startService(resourceOf(tracks), { audio: fileSource(bytes) });
    const { status } = await sendRequest(`${service.url}/api/Stream/Media/${combinedKey()}?format=m4a`);
    expect([status, service.sizes.size]).toEqual([200, 0]);
  });
});

describe('a failing or incomplete source', () => {
  it.each([
    ['is gone', () => Promise.reject(problems.notFound()), 'not-found', 404, 'Resource Not Found'],
    ['fails', () => Promise.reject(createProblem('site-error')), 'site-error', 502, 'Fetch Failed'],
    ['is empty', async () => fileSource(Buffer.alloc(0)), 'site-error', 502, 'Fetch Failed'],
    ['fails before its first byte', async () => fileSource(bytes, { cutAt: 0 }), 'site-error', 502, 'Fetch Failed'],
  ])('is answered when it %s', async (_name, open, name, status, title) => {
    const service = await startService(resourceOf([trackOf('file')]), { file: open });
    const answer = await sendRequest(service.media('file'));
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body.toString())).toEqual({ type: `/problems/${name}`, title, status });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it.each([
    ['with a length', fileSource(bytes, { cutAt: 131_072 })],
    ['without a length', unsized(fileSource(bytes, { cutAt: 131_072 }))],
  ])('breaks the connection when it fails midway, %s', async (_name, source) => {
    const service = await startService(resourceOf([trackOf('file')]), { file: source });
    await expect(sendRequest(service.media('file'))).rejects.toThrow();
  });

  it('is opened with the range that the client requests', async () => {
    const asked: unknown[] = [];
    const open: OpenSource = async (_resource, _track, opening) => {
      asked.push(opening?.range);
      return fileSource(bytes);
    };
    const service = await startService(resourceOf([trackOf('file')]), { file: open });
    const url = service.media('file');
    for (const range of ['bytes=1000-1009', 'bytes=1000-', 'bytes=-5']) await sendRequest(url, { headers: { range } });
    expect(asked).toEqual([{ first: 1000, last: 1009 }, { first: 1000 }, { first: 0 }]);
  });

  it('is sent whole, without length and ranges, when its size is unknown', async () => {
    const service = await startService(resourceOf([trackOf('file')]), { file: unsized(fileSource(bytes)) });
    const url = service.media('file');
    const { status, headers, body } = await sendRequest(url, { headers: { range: 'bytes=0-9' } });
    expect(status).toBe(200);
    expect(sha256(body)).toBe(sha256(bytes));
    expect(headers['accept-ranges']).toBe('none');
    expect(headers).not.toHaveProperty('content-length');
    expect(headers).not.toHaveProperty('etag');
    const head = await sendRequest(url, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(head.headers).not.toHaveProperty('content-length');
  });

  it('has a different ETag for a different size or validator', async () => {
    const etags = new Set<string | undefined>();
    for (const source of [
      fileSource(bytes),
      { ...fileSource(bytes), validator: '"other"' },
      fileSource(bytes.subarray(1)),
    ]) {
      const service = await startService(resourceOf([trackOf('file')]), { file: source });
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
    const service = await startService(resourceOf([trackOf('file')]), { file: open }, { ...missing, maintenance });
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
  const start = (peekSource: OpenSource, limits = { maxStreams: 1, maxStreamsPerClient: 1, maxFfmpeg: 1 }) =>
    startService(resourceOf([trackOf('file')]), { file: fileSource(bytes) }, { peekSource, limits });

  it.each(['', '?format=mp3'])('answers the headers of GET %s', async (query) => {
    const service = await start(async () => fileSource(bytes));
    const url = `${service.media('file')}${query}`;
    const { headers } = await sendRequest(url, { method: 'HEAD' });
    const head = Object.keys(headers).filter((name) => name !== 'date');
    expect(headers['content-length']).toBe(query ? undefined : '300000');
    if (!query) {
      const get = await sendRequest(url);
      expect(head.map((name) => [name, headers[name]])).toEqual(head.map((name) => [name, get.headers[name]]));
    }
  });

  it.each<[string, OpenSource, number]>([
    ['the source fails', () => Promise.reject(problems.notFound()), 1],
    ['no slot is free', async () => fileSource(bytes), 0],
  ])('answers with what the table knows when %s', async (_, peekSource, maxStreams) => {
    const service = await start(peekSource, { maxStreams, maxStreamsPerClient: 1, maxFfmpeg: 1 });
    const { status, headers } = await sendRequest(service.media('file'), {
      method: 'HEAD',
    });
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'video/mp4', 'accept-ranges': 'bytes' });
    expect(headers).not.toHaveProperty('content-length');
  });
});
