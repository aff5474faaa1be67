import { once } from 'node:events';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/index.ts';
import { createFaultHandler, type Fault } from '../../origin/faults.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { bytes, MiB, startFileUpstream } from './file-source-fixture.ts';
import { bytesOf, readAll, resourceWith, sha256, startUpstream, statusOf, trackAt } from './upstream.ts';

const { upstream, fault, isFile, openWith, whole } = await startFileUpstream();

describe('requests of a file source', () => {
  it('use one request for a small file that is read from where it was opened', async () => {
    const { seen } = fault();
    const source = await openWith({}, {}, 2_900_000);
    expect(await readAll(source.read(2_900_000, 2_999_999))).toBe(sha256(bytes.subarray(2_900_000, 3_000_000)));
    expect(seen).toHaveLength(1);
  });

  describe('that is small', () => {
    const text = Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n'.repeat(2000));
    const open = async (maxBytes = MiB) => {
      const track = trackAt(`${upstream.origin}/captions.vtt`, { container: 'vtt' });
      return isFile(await upstream.reader()(resourceWith(track), track, { maxBytes }));
    };

    it.each<[string, Fault | undefined]>([
      ['with a length', undefined],
      ['chunked, without a validator', { name: 'chunked' }],
      ['until the connection closes', { name: 'unframed', after: 0, times: 0 }],
      ['that drops once', { name: 'drop', after: 5000, times: 1 }],
    ])('ask for all of it without Range: %s', async (_, how) => {
      const { seen } = fault(how, { bytes: text, etag: null });
      expect(await readAll((await open()).read(0))).toBe(sha256(text));
      expect(seen[0]?.range).toBeUndefined();
    });

    it.each<[string, (bytes: Buffer) => Buffer]>([
      ['gzip', gzipSync],
      ['br', brotliCompressSync],
      ['deflate', deflateSync],
    ])('decode what its source compresses as %s', async (coding, encode) => {
      upstream.use((_, response) => void response.writeHead(200, { 'content-encoding': coding }).end(encode(text)));
      expect(await readAll((await open()).read(0))).toBe(sha256(text));
      expect(await statusOf(open(text.length - 1))).toBe(502);
      upstream.use((_, response) =>
        response.writeHead(200, { 'content-encoding': coding }).end(encode(text).subarray(0, -20)),
      );
      expect(await statusOf(open())).toBe(502);
    });
  });

  it('respect the maximum range of the format', async () => {
    const { seen } = fault();
    const source = await openWith({}, { chunkBytes: 300_000 });
    expect(await readAll(source.read(0))).toBe(whole);
    const lengths = seen
      .map(({ range }) => /(\d+)-(\d+)/.exec(range ?? ''))
      .map((m) => Number(m?.[2]) - Number(m?.[1]));
    expect(Math.max(...lengths)).toBe(299_999);
  });

  it('carry the headers of the format, and accept no content coding', async () => {
    const { seen } = fault();
    const headers = { 'X-Format': '22', 'Accept-Encoding': 'gzip', Range: 'bytes=0-' };
    const source = await openWith({}, { headers });
    await readAll(source.read(0));
    for (const request of seen) {
      expect(request.headers).toMatchObject({ 'x-format': '22', 'accept-encoding': 'identity' });
      expect(request.range).toMatch(/^bytes=\d+-\d+$/);
    }
  });

  it('send cookies only to matching hosts, through every redirect', async () => {
    const handler = createFaultHandler({ bytes });
    const elsewhere = await startUpstream();
    elsewhere.use(handler);
    upstream.use((_request, response) => void response.writeHead(302, { location: `${elsewhere.origin}/moved` }).end());
    const { port } = new URL(elsewhere.origin);
    const cookie = { value: '1', domain: '127.0.0.1', hostOnly: true, path: '/', secure: false };
    const track = trackAt(`${upstream.origin}/file`, {
      headers: { 'X-Secret': 'mine' },
      cookies: [
        { ...cookie, name: 'here' },
        { ...cookie, name: 'path', path: '/file' },
      ],
    });
    const egress = closeAfterwards(
      createEgress({ allow: [port, new URL(upstream.origin).port].map((at) => `127.0.0.1:${at}`) }),
    );
    const source = isFile(await upstream.reader({ egress })(resourceWith(track), track));
    expect(await readAll(source.read(0))).toBe(whole);
    expect(handler.seen[0]?.headers.cookie).toBe('here=1');
    expect(handler.seen[0]?.headers['x-secret']).toBeUndefined();
  });
});

/** Of the stream, ahead of its reader. */
const BUFFERED_BYTES = 128 * 1024;

describe('unread file source', () => {
  it('aborts its requests when destroyed', async () => {
    const { seen } = fault({ name: 'throttle', bytesPerSecond: 500_000 });
    const stream = (await openWith()).read(0);
    await once(stream, 'readable');
    stream.destroy();
    await expect.poll(() => seen.every(({ state }) => state === 'left')).toBe(true);
  });

  it('aborts the opening fetch when closed, and when reading starts at another offset', async () => {
    const { seen } = fault({ name: 'throttle', bytesPerSecond: 500_000 });
    const source = await openWith();
    source.close();
    await expect.poll(() => seen.map(({ state }) => state)).toEqual(['left']);

    const other = await openWith();
    const stream = other.read(2 * MiB);
    await expect.poll(() => seen[1]?.state).toBe('left');
    stream.destroy();
  });

  it('counts no failures while the reader is paused', async () => {
    const { seen } = fault({ name: 'drop', after: 600_000, times: 5 });
    const source = await openWith({ limits: { maxAttempts: 2, firstChunkBytes: MiB } });
    await expect.poll(() => seen[0]?.state).toBe('left');
    expect(await readAll(source.read(0, 1_000_000))).toBe(sha256(bytes.subarray(0, 1_000_001)));
  });

  it('stops opening when the client disconnects', async () => {
    const { seen } = fault({ name: 'slow-start', milliseconds: 5_000 });
    const track = trackAt(`${upstream.origin}/file`);
    const client = new AbortController();
    const opening = upstream.reader({ limits: { stallTimeoutMs: 10_000 } })(resourceWith(track), track, {
      signal: client.signal,
    });
    await expect.poll(() => seen.length).toBe(1);
    client.abort(new Error('left'));
    await expect(opening).rejects.toThrow('left');
    await expect.poll(() => seen[0]?.state).toBe('left');
  });

  it('requests at most twice what has been read, and a first range', async () => {
    const large = bytesOf(24 * MiB);
    let sent = 0;
    upstream.use((request, response) => {
      const [, first, last] = /(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
      const slice = large.subarray(Number(first), Math.min(Number(last), large.length - 1) + 1);
      response.writeHead(206, {
        'content-range': `bytes ${first}-${Number(first) + slice.length - 1}/${large.length}`,
        'content-length': slice.length,
      });
      sent += slice.length;
      response.end(slice);
    });
    const stream = (await openWith()).read(0);
    let read = 0;
    for (let left = 40; left > 0; left--) {
      await once(stream, 'readable');
      read += (stream.read(65_536) as Buffer | null)?.length ?? 0;
      expect(sent).toBeLessThanOrEqual(2 * (read + BUFFERED_BYTES) + MiB / 4);
    }
    stream.destroy();
  });
});

describe('random ranges of an unreliable upstream', () => {
  it('always deliver exactly the range', async () => {
    let state = 20_251_121;
    const random = (below: number) => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    const faults: Fault[] = [
      { name: 'drop', after: 70_000, times: 3 },
      { name: 'short-body', by: 50_000, times: 2 },
      { name: 'reset', times: 2 },
      { name: 'wrong-range', times: 2 },
      { name: 'status', status: 502, times: 2 },
      { name: 'strict', largest: 1024 * 1024 },
      { name: 'ignore-range', length: true, dropAfter: 900_000, times: 1 },
      { name: 'long-body', by: 10 },
    ];
    for (let round = 0; round < 60; round++) {
      const how = faults[random(faults.length)];
      fault(how);
      const first = random(bytes.length);
      const last = Math.min(first + random(2 * MiB), bytes.length - 1);
      const source = await openWith({}, random(2) ? { chunkBytes: 65_536 + random(MiB) } : {}, random(2) ? first : 0);
      expect([how, first, last, await readAll(source.read(first, last))]).toEqual([
        how,
        first,
        last,
        sha256(bytes.subarray(first, last + 1)),
      ]);
    }
  });
});
