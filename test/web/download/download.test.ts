import { describe, expect, it } from 'vitest';
import type { DownloadState } from '../../../web/src/download/download-state.ts';
import { createFaultHandler } from '../../origin/faults.ts';
import {
  BYTES,
  createKeptSink,
  DIGEST,
  digestOf,
  rangesOf,
  serve,
  serveBytes,
  setUp,
  until,
} from '../fakes/byte-sources.ts';

describe('createDownload', () => {
  it('writes every byte, reports progress and closes the sink', async () => {
    const { url, handler } = await serveBytes();
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
    const { url } = await serveBytes();
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
    const { url } = await serveBytes({ name: 'stall', after: 150_000, times: 1 });
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
    const { url, handler } = await serveBytes({ name: 'drop', after: 100_000, times: 3 });
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
    const { url } = await serveBytes({ name: 'reset', times: 1 });
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
    const { url, handler } = await serveBytes({ name: 'stall', after: 150_000, times: 1 });
    const { download, sink } = setUp(url, { stallTimeoutMs: 1_000 });
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

describe('sink', () => {
  it('a dismissed picker cancels the download', async () => {
    const { url, handler } = await serveBytes();
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
    const { url } = await serveBytes();
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
    const { url, handler } = await serveBytes();
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
    const { url } = await serveBytes();
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
