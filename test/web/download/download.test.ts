import { describe, expect, it } from 'vitest';
import type { DownloadState } from '../../../web/src/download/download-state.ts';
import { createFaultHandler, type Fault, type FaultHandler } from '../../origin/faults.ts';
import { createKeptSink, digestOf, serve, setUp, someBytes, until } from '../fakes/byte-sources.ts';

const BYTES = someBytes(600_000);
const DIGEST = digestOf(BYTES);

async function source(fault?: Fault, options: { etag?: string | null } = {}) {
  const handler = createFaultHandler({ bytes: BYTES, ...(fault && { fault }), ...options });
  return { url: await serve(handler), handler };
}
const rangesOf = ({ seen }: FaultHandler) => seen.map(({ range }) => range);

describe('createDownload', () => {
  it('writes every byte, reports progress and closes the sink', async () => {
    const { url, handler } = await source();
    const { download, sink, phases } = setUp(url);
    const totals = new Set<number | undefined>();
    download.state.subscribe(({ phase, totalBytes }) => phase === 'running' && totals.add(totalBytes));
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(sink.ended).toBe('closed');
    expect(phases).toEqual(['waiting', 'running', 'done']);
    expect([...totals]).toEqual([BYTES.length]);
    expect(download.state.get()).toMatchObject({
      receivedBytes: BYTES.length,
      totalBytes: BYTES.length,
      isEstimate: false,
      isHandedOver: false,
    });
    expect(rangesOf(handler)).toEqual([undefined]);
  });

  it('reports speed and remaining time', async () => {
    let now = 0;
    const { url } = await source();
    const { download } = setUp(url, { now: () => now });
    const seen: DownloadState[] = [];
    download.state.subscribe((state) => {
      now += 500;
      if (state.phase === 'running') seen.push(state);
    });
    await download.start();
    const told = seen.filter(({ secondsLeft }) => secondsLeft !== undefined);
    expect(told.length).toBeGreaterThan(0);
    for (const { receivedBytes, bytesPerSecond, secondsLeft } of told)
      expect(secondsLeft).toBe(Math.ceil((BYTES.length - receivedBytes) / bytesPerSecond));
    expect(download.state.get()).toMatchObject({ bytesPerSecond: 0 });
  });

  it('reports speed 0 while a connection stalls', async () => {
    const { url } = await source({ name: 'stall', after: 150_000, times: 1 });
    let now = 0;
    const { download } = setUp(url, { now: () => now });
    const done = download.start();
    await until(download, ({ phase }) => phase === 'running');
    now += 1000;
    await until(download, ({ receivedBytes, bytesPerSecond }) => receivedBytes === 150_000 && bytesPerSecond > 0);
    now += 10_000;
    await until(download, ({ bytesPerSecond }) => bytesPerSecond === 0);
    expect(download.state.get()).toMatchObject({ phase: 'running', receivedBytes: 150_000 });
    download.cancel();
    await done;
  });

  it('resumes at the exact byte after three drops, with If-Range', async () => {
    const { url, handler } = await source({ name: 'drop', after: 100_000, times: 3 });
    const { download, sink, waited } = setUp(url);
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(sink.restarts).toBe(0);
    expect(waited).toEqual([0.5, 0.5, 0.5]);
    const [first, ...others] = handler.seen;
    expect(first?.headers['if-range']).toBeUndefined();
    for (const { range, headers } of others) {
      expect(range).toMatch(/^bytes=[1-9]\d*-$/);
      expect(headers['if-range']).toMatch(/^"[0-9a-f]+"$/);
    }
    expect(others).toHaveLength(3);
  });

  it('restarts when the connection drops before the first byte', async () => {
    const { url } = await source({ name: 'reset', times: 1 });
    const { download, sink } = setUp(url);
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
  });

  it('does not accept a truncated response as complete', async () => {
    const first = createFaultHandler({ bytes: BYTES, fault: { name: 'drop', after: 100_000, times: 1 } });
    const then = createFaultHandler({ bytes: BYTES, fault: { name: 'short-body', by: 50_000, times: 1 } });
    const url = await serve((request, response) => (first.seen.length ? then : first)(request, response));
    const { download, sink } = setUp(url);
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(rangesOf(then)).toEqual([expect.any(String), `bytes=${BYTES.length - 50_000}-`]);
  });

  it('reconnects after stallTimeoutMs', async () => {
    const { url, handler } = await source({ name: 'stall', after: 150_000, times: 1 });
    const { download, sink } = setUp(url, { stallTimeoutMs: 150 });
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(rangesOf(handler)).toHaveLength(2);
  });

  it('fails after maximum wait and resumes on retry', async () => {
    let isDead = false;
    const handler = createFaultHandler({ bytes: BYTES, fault: { name: 'drop', after: 100_000, times: 1 } });
    const url = await serve((request, response) => {
      if (isDead) request.socket.resetAndDestroy();
      else handler(request, response);
    });
    const { download, sink, waited } = setUp(url, {
      sleep: async (milliseconds) => {
        isDead = true;
        waited.push(milliseconds);
      },
    });
    await download.start();
    expect(download.state.get()).toMatchObject({
      phase: 'failed',
      failure: { kind: 'unreachable' },
      canResume: true,
      canRetry: true,
    });
    // Growing delays up to ten minutes, then the failure.
    expect(waited.reduce((sum, time) => sum + time, 0)).toBeGreaterThan(500_000);
    expect(waited.length).toBeLessThan(40);
    const kept = download.state.get().receivedBytes;
    expect(kept).toBeGreaterThan(0);
    isDead = false;
    download.resume();
    await until(download, ({ phase }) => phase === 'done');
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(handler.seen.at(-1)?.range).toBe(`bytes=${kept}-`);
  });

  it('fails quickly when the instance never responds', async () => {
    const url = await serve((request) => request.socket.resetAndDestroy());
    const { download, waited } = setUp(url);
    await download.start();
    expect(download.state.get()).toMatchObject({ phase: 'failed', failure: { kind: 'unreachable' } });
    expect(waited.length).toBeLessThan(5);
  });
});

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
    const { url, handler } = await source({ name: 'throttle', bytesPerSecond: 1_000_000 });
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
    const { url, handler } = await source({ name: 'throttle', bytesPerSecond: 2_000_000 }, { etag: null });
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
    const { url } = await source({ name: 'throttle', bytesPerSecond: 400_000 });
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
    const { url } = await source({ name: 'ignore-range', length: false, dropAfter: 200_000, times: 1 }, { etag: null });
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

describe('sink', () => {
  it('a dismissed picker cancels the download', async () => {
    const { url, handler } = await source();
    const { download } = setUp(url, {
      openSink: async () => {
        throw new DOMException('Nothing chosen', 'AbortError');
      },
    });
    await download.start();
    expect(download.state.get().phase).toBe('cancelled');
    expect(handler.seen).toEqual([]);
  });

  it.each([
    ['has no room', new DOMException('Full', 'QuotaExceededError'), 'no-space'],
    ['cannot be written', new DOMException('Gone', 'NotFoundError'), 'not-writable'],
  ])('that %s is reported, and a retry opens another', async (_, error, kind) => {
    const { url } = await source();
    const bad = createKeptSink((soFar) => {
      if (soFar > 0) throw error;
    });
    const good = createKeptSink();
    const sinks = [bad, good];
    const { download } = setUp(url, { openSink: async () => sinks.shift() ?? good });
    await download.start();
    expect(download.state.get()).toMatchObject({ phase: 'failed', failure: { kind }, canRetry: true });
    expect(bad.ended).toBe('aborted');
    download.resume();
    await until(download, ({ phase }) => phase === 'done');
    expect(digestOf(good.bytes)).toBe(DIGEST);
  });

  it('is discarded when cancelled while being chosen', async () => {
    const { url, handler } = await source();
    const sink = createKeptSink();
    const chosen = Promise.withResolvers<typeof sink>();
    const { download } = setUp(url, { openSink: () => chosen.promise });
    const ended = download.start();
    download.cancel();
    chosen.resolve(sink);
    await ended;
    expect(download.state.get().phase).toBe('cancelled');
    expect(sink.ended).toBe('aborted');
    expect(handler.seen).toEqual([]);
  });

  it('hands over to the browser once the stream responds', async () => {
    let refusals = 1;
    const handler = createFaultHandler({ bytes: BYTES });
    const url = await serve((request, response) => {
      if (refusals-- > 0) response.writeHead(503, { 'retry-after': '2' }).end('{"title":"Starting"}');
      else handler(request, response);
    });
    const handed: string[] = [];
    const { download, waited } = setUp(url, {
      openSink: async () => ({ kind: 'browser', start: (address) => void handed.push(address) }),
    });
    await download.start();
    expect(waited).toEqual([2]);
    expect(handed).toEqual([url]);
    expect(download.state.get()).toMatchObject({ phase: 'done', isHandedOver: true });
  });

  it('applies backpressure: one chunk at a time', async () => {
    const { url } = await source();
    let writing = 0;
    let most = 0;
    const { download } = setUp(url, {
      openSink: async () => ({
        ...createKeptSink(),
        write: async () => {
          most = Math.max(most, ++writing);
          await new Promise((resolve) => setImmediate(resolve));
          writing--;
        },
      }),
    });
    await download.start();
    expect(most).toBe(1);
  });
});
