import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FileSource } from '@reelay/source';
import { describe, expect, it } from 'vitest';
import { sendRequest } from '../../support/request.ts';
import { openResponse, resourceOf, type Service, startService, trackOf, until } from '../fixture.ts';

const SIZE = 100_000_000;
const CHUNK_BYTES = 65_536;
let service: Service;

/** A large file that counts its open reads and the requested bytes. */
function countedSource() {
  const counts = { open: 0, bytes: 0, closed: 0 };
  const source: FileSource = {
    needsRemux: false,
    size: SIZE,
    validator: undefined,
    read(first, last = SIZE - 1) {
      let left = last - first + 1;
      counts.open += 1;
      return new Readable({
        read() {
          // As on a network, in a turn of the event loop of its own: it notices that a client has disconnected.
          setImmediate(() => {
            if (this.destroyed) return;
            const chunk = Buffer.alloc(Math.min(left, CHUNK_BYTES));
            left -= chunk.length;
            counts.bytes += chunk.length;
            this.push(chunk.length > 0 ? chunk : null);
          });
        },
        destroy(error, done) {
          counts.open -= 1;
          done(error);
        },
      });
    },
    close() {
      counts.closed += 1;
    },
  };
  return { source, counts };
}

async function start(source: FileSource, options: Parameters<typeof startService>[2] = {}): Promise<string> {
  service = await startService(resourceOf([trackOf('file')]), { file: source }, options);
  return service.media('file');
}

/** What the client sees: the whole body, or a broken connection. */
const outcome = (answer: IncomingMessage) =>
  new Promise<'complete' | 'broken'>((resolve) => {
    answer.once('end', () => resolve('complete')).once('error', () => resolve('broken'));
    answer.resume();
  });

describe('client limits and disconnects', () => {
  it('stops reading the source when the client disconnects', async () => {
    const { source, counts } = countedSource();
    const answer = await openResponse(await start(source));
    expect(counts.open).toBe(1);
    answer.destroy();
    await until(() => counts.open === 0 && counts.closed === 1);
  });

  it('aborts opening the source when the client disconnects', async () => {
    const { source, counts } = countedSource();
    const opening = Promise.withResolvers<AbortSignal>();
    service = await startService(resourceOf([trackOf('file')]), {
      file: async (_resource, _track, { signal } = {}) => {
        if (signal) opening.resolve(signal);
        await new Promise((resolve) => signal?.addEventListener('abort', resolve));
        return source;
      },
    });
    const client = new AbortController();
    const url = service.media('file');
    const asking = sendRequest(url, { signal: client.signal }).catch(() => 'left');
    const signal = await opening.promise;
    client.abort();
    expect(await asking).toBe('left');
    await until(() => signal.aborted && counts.closed === 1 && counts.open === 0);
  });

  it('reads a bounded part of the source for a client that does not read', async () => {
    const { source, counts } = countedSource();
    const answer = await openResponse(await start(source));
    let before = -1;
    await until(() => {
      const still = counts.bytes === before;
      before = counts.bytes;
      return still;
    });
    // The buffers of both sockets and those of the service.
    expect(counts.bytes).toBeLessThan(20_000_000);
    answer.destroy();
  });

  it('ends a stream whose client accepts no byte, and no stream of a slow client', async () => {
    const { source, counts } = countedSource();
    const url = await start(source, { clientTimeoutMs: 2000 });
    const slow = await openResponse(url);
    const reading = setInterval(() => slow.read(256 * 1024), 20);
    // While two others reach the limit one after the other, the slow one is open for twice as long.
    for (let client = 0; client < 2; client += 1) {
      const stalled = await openResponse(url);
      expect(counts.open).toBe(2);
      await until(() => counts.open === 1);
      expect(await outcome(stalled)).toBe('broken');
    }
    clearInterval(reading);
    expect(slow.destroyed).toBe(false);
    slow.destroy();
    await until(() => counts.open === 0);
  });

  it('releases the slot of a request that fails', async () => {
    const { source } = countedSource();
    const url = await start(source, { limits: { maxStreams: 1, maxStreamsPerClient: 1, maxFfmpeg: 1 } });
    const past = { range: `bytes=${SIZE}-` };
    expect((await sendRequest(url, { headers: past })).status).toBe(416);
    await until(async () => (await sendRequest(url, { headers: { range: 'bytes=0-0' } })).status === 206);
  });

  it.each([
    [0, 429],
    [1, 206],
  ])('identifies clients by X-Forwarded-For behind %d trusted proxies', async (trustedProxies, status) => {
    const { source } = countedSource();
    const limits = { maxStreams: 10, maxStreamsPerClient: 1, maxFfmpeg: 1 };
    const url = await start(source, { limits, trustedProxies });
    const answer = await openResponse(url, { 'x-forwarded-for': '192.0.2.1' });
    const headers = { range: 'bytes=0-0', 'x-forwarded-for': '192.0.2.1, 192.0.2.2' };
    expect((await sendRequest(url, { headers })).status).toBe(status);
    answer.destroy();
  });
});

describe('drain', () => {
  it('lets running streams finish and refuses new ones', async () => {
    const { source } = countedSource();
    const url = await start(source);
    const answer = await openResponse(url);
    const drained = service.drain();
    expect((await sendRequest(url)).status).toBe(503);
    expect(await outcome(answer)).toBe('complete');
    await drained;
  });

  it('destroys the remaining streams after drainSeconds, with and without a length', async () => {
    for (const size of [SIZE, undefined]) {
      const { source, counts } = countedSource();
      const url = await start({ ...source, size }, { drainSeconds: 0 });
      const answer = await openResponse(url);
      const end = outcome(answer);
      await service.drain();
      expect(await end).toBe('broken');
      await until(() => counts.open === 0);
      await service.close();
    }
  });
});
