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

describe('a download', () => {
  it('takes every byte, says how far it is, and closes the file', async () => {
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

  it('says its speed and the time left by a clock', async () => {
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

  it('says what has arrived, and that it goes no further, while a connection brings nothing', async () => {
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

  it('goes on at the exact byte when the source drops three times, and asks for that very file', async () => {
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

  it('begins again when the connection breaks before anything came', async () => {
    const { url } = await source({ name: 'reset', times: 1 });
    const { download, sink } = setUp(url);
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
  });

  it('never takes an answer that ends too early for the whole', async () => {
    const first = createFaultHandler({ bytes: BYTES, fault: { name: 'drop', after: 100_000, times: 1 } });
    const then = createFaultHandler({ bytes: BYTES, fault: { name: 'short-body', by: 50_000, times: 1 } });
    const url = await serve((request, response) => (first.seen.length ? then : first)(request, response));
    const { download, sink } = setUp(url);
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(rangesOf(then)).toEqual([expect.any(String), `bytes=${BYTES.length - 50_000}-`]);
  });

  it('gives up a connection that brings nothing, and goes on', async () => {
    const { url, handler } = await source({ name: 'stall', after: 150_000, times: 1 });
    const { download, sink } = setUp(url, { stallTimeoutMs: 150 });
    await download.start();
    expect(digestOf(sink.bytes)).toBe(DIGEST);
    expect(rangesOf(handler)).toHaveLength(2);
  });

  it('fails, and can be tried again from there, when a line never comes back', async () => {
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
    // Ten minutes of waits that grow, then it is said.
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

  it('tells within a few tries that there is nobody', async () => {
    const url = await serve((request) => request.socket.resetAndDestroy());
    const { download, waited } = setUp(url);
    await download.start();
    expect(download.state.get()).toMatchObject({ phase: 'failed', failure: { kind: 'unreachable' } });
    expect(waited.length).toBeLessThan(5);
  });
});

describe('a file that changes', () => {
  it('is begun again when it is another by the time the rest is asked for', async () => {
    const [old, now] = [someBytes(400_000, 7), BYTES];
    const before = createFaultHandler({ bytes: old, fault: { name: 'drop', after: 100_000, times: 1 } });
    const url = await serve((request, response) => {
      if (!before.seen.length) return before(request, response);
      // If-Range does not hold: the whole new file.
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
    // The first answer breaks; what comes for the rest is not to be trusted.
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

  it('fails when it is another each time', async () => {
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

describe('a pause', () => {
  it('ends the connection where there are ranges, and goes on at the exact byte', async () => {
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

  it('holds a stream without ranges, and nothing is lost or taken twice', async () => {
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

  it('can be ended before anything came, twice, and cancelled', async () => {
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

describe('a stream without ranges', () => {
  it('that breaks is said to be broken, and a new try begins anew', async () => {
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

  it('does not believe a length that is said of what was compressed', async () => {
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

describe('an instance that asks for patience', () => {
  it.each([
    [503, 'Starting', '7', 'waking', 7],
    [503, 'No Capacity', '10', 'busy', 10],
    [429, 'Too Many Requests', '3', 'too-many', 3],
    [429, 'Too Many Requests', undefined, 'too-many', 5],
  ])('%i %s is waited out, and said', async (status, title, retryAfter, reason, seconds) => {
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

  it('that never ends is given up', async () => {
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
  ])('%i is told at once', async (status, kind, canRetry) => {
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

  it('a failing source in the middle is a drop like any other', async () => {
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

describe('the place', () => {
  it('that nobody chose is no failure', async () => {
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
  ])('that %s is told, and a new try asks for another', async (_, error, kind) => {
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

  it('is left empty when the user cancels while choosing it', async () => {
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

  it('may be the browser itself: it is handed over once the stream answers', async () => {
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

  it('is never written faster than it takes: a chunk at a time', async () => {
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
