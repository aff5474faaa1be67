import { describe, expect, it } from 'vitest';
import type { DownloadState } from '../../../web/src/download/download-state.ts';
import { createFaultHandler, type Fault } from '../../origin/faults.ts';
import { BYTES, DIGEST, digestOf, serve, serveBytes, setUp, someBytes, until } from '../fakes/byte-sources.ts';

describe('a changed file', () => {
  it('restarts when the entity differs on resume', async () => {
    const [old, now] = [someBytes(400_000, 7), BYTES];
    const before = createFaultHandler({ bytes: old, fault: { name: 'drop', after: 100_000, times: 1 } });
    const url = await serve((request, response) => {
      if (!before.seen.length) return before(request, response);
      // If-Range does not match: the whole new file.
      response.writeHead(200, { 'content-length': now.length, etag: '"new"', 'accept-ranges': 'bytes' }).end(now);
    });
    const { download, sink } = setUp(url);
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(sink.restarts).toBe(1);
    expect(download.state.get()).toMatchObject({ phase: 'done', totalBytes: now.length });
  });

  it.each<[string, Fault]>([
    ['says a part of another total', { name: 'wrong-total', from: 0 }],
    ['sends a part of another place', { name: 'wrong-range', times: 1 }],
    ['sends a part without saying which', { name: 'no-range-header', times: 1 }],
  ])('never mixes two when a source %s', async (_, fault) => {
    // The first response breaks; the second is another file.
    const first = createFaultHandler({ bytes: BYTES, fault: { name: 'drop', after: 100_000, times: 1 } });
    const then = createFaultHandler({ bytes: BYTES, fault });
    const url = await serve((request, response) => {
      if (!first.seen.length) return first(request, response);
      then(request, response);
    });
    const { download, sink } = setUp(url);
    await download.start();
    expect(download.state.get().phase).toBe('done');
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(sink.restarts).toBe(1);
  });

  it('fails when the entity differs every time', async () => {
    let count = 0;
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-length': BYTES.length, etag: `"${count++}"`, 'accept-ranges': 'bytes' });
      response.write(BYTES.subarray(0, 100_000), () => response.destroy());
    });
    const { download, sink } = setUp(url);
    await download.start();
    expect(download.state.get()).toMatchObject({ phase: 'failed', failure: { kind: 'changed' }, canRetry: true });
    expect(sink.ended).toBe('aborted');
  });
});

describe('pause', () => {
  it('closes the connection with ranges and resumes at the exact byte', async () => {
    const { url, handler } = await serveBytes({ name: 'throttle', bytesPerSecond: 1_000_000 });
    const { download, sink } = setUp(url);
    const ended = download.start();
    await until(download, ({ receivedBytes }) => receivedBytes > 0);
    download.pause();
    expect(download.state.get()).toMatchObject({ phase: 'paused', canResume: true, bytesPerSecond: 0 });
    await expect.poll(() => handler.seen[0]?.state).toBe('left');
    const kept = sink.bytes.length;
    download.resume();
    await ended;
    expect(handler.seen[1]?.range).toBe(`bytes=${kept}-`);
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(sink.restarts).toBe(0);
  });

  it('holds a stream without ranges and loses no byte', async () => {
    const { url, handler } = await serveBytes({ name: 'throttle', bytesPerSecond: 2_000_000 }, { etag: null });
    const { download, sink } = setUp(url);
    const ended = download.start();
    await until(download, ({ receivedBytes }) => receivedBytes > 0);
    download.pause();
    expect(download.state.get()).toMatchObject({ phase: 'paused', canResume: false });
    const kept = sink.bytes.length;
    expect(kept).toBeLessThan(BYTES.length);
    download.resume();
    await ended;
    expect(handler.seen).toHaveLength(1);
    expect(digestOf(sink.bytes)).toBe(DIGEST);
  });

  it('can be resumed twice before the first byte, and cancelled', async () => {
    const { url } = await serveBytes({ name: 'throttle', bytesPerSecond: 400_000 });
    const { download, sink } = setUp(url);
    const ended = download.start();
    await until(download, ({ receivedBytes }) => receivedBytes > 0);
    for (const _ of [1, 2]) {
      download.pause();
      download.pause();
      download.resume();
      download.resume();
    }
    download.pause();
    download.cancel();
    await ended;
    expect(download.state.get().phase).toBe('cancelled');
    expect(sink.ended).toBe('aborted');
  });
});

describe('stream without ranges', () => {
  it('reports an interruption and restarts on retry', async () => {
    const { url } = await serveBytes(
      { name: 'ignore-range', length: false, dropAfter: 200_000, times: 1 },
      { etag: null },
    );
    const { download, sink } = setUp(url);
    await download.start();
    expect(download.state.get()).toMatchObject({
      phase: 'failed',
      failure: { kind: 'interrupted' },
      canResume: false,
      canRetry: true,
    });
    expect(sink.ended).toBeUndefined();
    download.resume();
    await until(download, ({ phase }) => phase === 'done');
    expect(sink.restarts).toBe(1);
    expect(digestOf(sink.bytes)).toBe(DIGEST);
  });

  it.each([
    ['what the answer expects', { 'estimated-content-length': '700000' }, 5, 700_000],
    ['what the resolve said', {}, 650_000, 650_000],
    ['as much as came, where that was too little', {}, 5, undefined],
  ])('shows %s as an estimate', async (_, headers, expectedBytes, total) => {
    const url = await serve((_request, response) => void response.writeHead(200, headers).end(BYTES));
    const { download } = setUp(url, { expectedBytes });
    const seen: DownloadState[] = [];
    download.state.subscribe((state) => state.phase === 'running' && seen.push(state));
    await download.start();
    expect(seen[0]).toMatchObject({ isEstimate: true, totalBytes: total ?? seen[0]?.receivedBytes });
    expect(download.state.get()).toMatchObject({ phase: 'done', isEstimate: false, totalBytes: BYTES.length });
  });

  it('ignores Content-Length of a compressed response', async () => {
    const { gzipSync } = await import('node:zlib');
    const packed = gzipSync(BYTES);
    const url = await serve((_, response) => {
      const head = {
        'content-encoding': 'gzip',
        'content-length': packed.length,
        etag: '"x"',
        'accept-ranges': 'bytes',
      };
      response.writeHead(200, head).end(packed);
    });
    const { download, sink } = setUp(url);
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(download.state.get()).toMatchObject({ phase: 'done', canResume: false });
  });
});

describe('Retry-After', () => {
  it.each([
    [503, 'Starting', '7', 'waking', 7],
    [503, 'No Capacity', '10', 'busy', 10],
    [429, 'Too Many Requests', '3', 'too-many', 3],
    [429, 'Too Many Requests', undefined, 'too-many', 5],
  ])('is waited for and reported: %i %s', async (status, title, retryAfter, reason, seconds) => {
    const handler = createFaultHandler({ bytes: BYTES });
    let refusals = 2;
    const url = await serve((request, response) => {
      if (refusals-- <= 0) return handler(request, response);
      response.writeHead(status, { ...(retryAfter && { 'retry-after': retryAfter }) });
      response.end(JSON.stringify({ title, status }));
    });
    const { download, sink, waited } = setUp(url);
    const seen = new Set<unknown>();
    download.state.subscribe(({ waiting }) => waiting && seen.add(waiting));
    await download.start();
    expect(waited).toEqual([seconds, seconds]);
    expect([...seen]).toEqual(Array(2).fill({ reason, activity: title, retrySeconds: seconds }));
    expect(digestOf(sink.bytes)).toBe(DIGEST);
  });

  it('gives up after the maximum wait', async () => {
    const url = await serve(
      (_, response) => void response.writeHead(503, { 'retry-after': '100' }).end('{"title":"x"}'),
    );
    const { download, waited } = setUp(url);
    await download.start();
    expect(waited).toHaveLength(6);
    expect(download.state.get()).toMatchObject({ phase: 'failed', failure: { kind: 'waking' }, canRetry: true });
  });

  it.each([
    [404, 'not-found', false],
    [415, 'refused', false],
    [502, 'failed', true],
    [500, 'failed', true],
  ])('%i is reported at once', async (status, kind, canRetry) => {
    const body = JSON.stringify({ title: 'Some title', detail: 'Some detail' });
    const url = await serve((_, response) => void response.writeHead(status).end(body));
    const { download, waited } = setUp(url);
    await download.start();
    expect(waited).toEqual([]);
    expect(download.state.get()).toMatchObject({
      phase: 'failed',
      failure: { kind, title: 'Some title', detail: 'Some detail' },
      canRetry,
    });
  });

  it('treats a failing source mid-stream as a drop', async () => {
    const handler = createFaultHandler({ bytes: BYTES, fault: { name: 'drop', after: 100_000, times: 1 } });
    let count = 0;
    const url = await serve((request, response) => {
      if (++count !== 2) return handler(request, response);
      response.writeHead(502).end('{"title":"Fetch Failed"}');
    });
    const { download, sink } = setUp(url);
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
  });
});
