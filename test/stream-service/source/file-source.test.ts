import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SourceLimits } from '@reelay/source';
import { describe, expect, it, vi } from 'vitest';
import { createProblem, problems, toStreamProblem } from '../../../core/api/problem.ts';
import { NotDeliverable } from '../../../core/errors/index.ts';
import type { Resource, Track } from '../../../core/state/resource.ts';
import { createSourceOpeners } from '../../../stream-service/source/open-source.ts';
import { createFaultHandler, type Fault } from '../../origin/faults.ts';
import { bytes, MiB, startFileUpstream } from './file-source-fixture.ts';
import { bytesOf, readAll, resourceWith, sha256, statusOf, trackAt, type Upstream } from './upstream.ts';

const { upstream, fault, openWith, whole } = await startFileUpstream();

describe('file source, when the upstream', () => {
  it('ignores Range after it has dropped a part, delivers each byte once', async () => {
    const ranges = createFaultHandler({ bytes, fault: { name: 'drop', after: 200_000, times: 1 } });
    const wholes = createFaultHandler({ bytes, fault: { name: 'ignore-range', length: true } });
    let requests = 0;
    upstream.use((...exchange) => (requests++ === 0 ? ranges : wholes)(...exchange));
    expect(await readAll((await openWith()).read(0))).toBe(whole);
  });

  it('is empty, fails to open', async () => {
    fault(undefined, { bytes: Buffer.alloc(0) });
    expect(await statusOf(openWith())).toBe(502);
  });

  describe.each<['tag' | 'date']>([['tag'], ['date']])('names the file by another %s on each server', (by) => {
    const DAY = 'Sat, 01 Nov 2025 10:00:00 GMT';
    /** Two servers in turn, of which the second has other bytes from an offset on. */
    const serveFarm = (other: Buffer) => {
      const tags = { etag: by === 'tag' ? '"first"' : null, lastModified: DAY };
      const servers = [
        createFaultHandler({ bytes, ...tags }),
        createFaultHandler({ bytes: other, ...tags, fault: { name: 'changed', from: 0, by } }),
      ];
      let count = 0;
      upstream.use((request, response) => servers[count++ % 2]?.(request, response));
      return servers;
    };

    it('sends all of it, and any part', async () => {
      serveFarm(bytes);
      const source = await openWith();
      expect(source.validator).toBe(by === 'tag' ? '"first"' : DAY);
      expect(await readAll(source.read(0))).toBe(whole);
      expect(await readAll(source.read(2_000_000, 2_100_000))).toBe(sha256(bytes.subarray(2_000_000, 2_100_001)));
    });

    it('fails the stream when the bytes differ', async () => {
      const [first, second] = serveFarm(bytesOf(bytes.length, 9));
      upstream.use((request, response) => (first?.seen.length === 0 ? first : second)?.(request, response));
      expect(await readAll((await openWith()).read(0))).toBe('broken 502');
    });

    it('fails the stream when the size differs', async () => {
      serveFarm(bytes.subarray(1));
      expect(await readAll((await openWith()).read(0))).toBe('broken 502');
    });
  });

  it.each<[string, Fault | undefined, number | undefined]>([
    ['a length', undefined, bytes.length],
    ['chunked', { name: 'chunked' }, undefined],
    ['a connection that drops', { name: 'drop', after: 900_000, times: 1 }, bytes.length],
  ])('tells no size with a range is asked once without Range: %s', async (_, how, size) => {
    const plain = createFaultHandler({ bytes, etag: null, ...(how && { fault: how }) });
    let ranges = 0;
    upstream.use((request, response) => {
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
      if (first === undefined) return plain(request, response);
      ranges += 1;
      response.writeHead(206, { 'content-range': `bytes ${first}-${last}/*` });
      response.end(bytes.subarray(Number(first), Number(last) + 1));
    });
    const source = await openWith();
    expect(source.size).toBe(size);
    expect(await readAll(source.read(0))).toBe(whole);
    expect(ranges).toBe(1);
  });

  it.each([
    ['is mended when it sends the same again', bytes, sha256(bytes)],
    ['breaks when it sends something else', bytesOf(bytes.length, 8), 'broken 502'],
  ])('sends no length or validator and drops the connection %s', async (_, again, outcome) => {
    const handler = (bytes: Buffer, times: number) =>
      createFaultHandler({
        bytes,
        etag: null,
        fault: { name: 'ignore-range', length: false, dropAfter: 700_000, times },
      });
    const handlers = [handler(bytes, 1), handler(again, 0)];
    upstream.use((request, response) => (handlers.shift() ?? handler(again, 0))(request, response));
    const source = await openWith();
    expect(source.size).toBeUndefined();
    expect(await readAll(source.read(0))).toBe(outcome);
  });
});

describe('file source with an expired URL', () => {
  const freshAt = (path: string) => resourceWith(trackAt(upstream.origin + path));
  /** A file whose URL expires after two requests, or has by its time, and whose fresh one is served. */
  const expiring = (status?: number) => {
    const handler = fault(status === undefined ? undefined : { name: 'expire', from: 2, status });
    const refresh = vi.fn(async () => {
      handler.renew();
      return freshAt('/fresh');
    });
    return { handler, refresh };
  };

  it.each([401, 403, 404, 410])('continues at the same byte of the renewed URL after %d', async (status) => {
    const { handler, refresh } = expiring(status);
    expect(await readAll((await openWith({ refresh })).read(0))).toBe(whole);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(handler.seen.at(-1)?.url).toBe('/fresh');
  });

  it('sends no request to a URL whose expiry has passed', async () => {
    const { handler, refresh } = expiring();
    const source = await openWith({ refresh, now: () => 2_000_000 }, { urlExpiresAt: 2000 });
    expect(await readAll(source.read(0))).toBe(whole);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(new Set(handler.seen.map(({ url }) => url))).toEqual(new Set(['/fresh']));
  });

  it('resolves once for concurrent readers', async () => {
    const { refresh } = expiring(403);
    const source = await openWith({ refresh });
    const firsts = [0, 1000, 2_000_000];
    const read = await Promise.all(firsts.map((first) => readAll(source.read(first))));
    expect(read).toEqual(firsts.map((first) => sha256(bytes.subarray(first))));
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => Promise<ReturnType<typeof resourceWith>>, string]>([
    ['the format is gone', async () => resourceWith(trackAt('', { formatId: 'another' })), 'broken 404'],
    ['the page is gone', () => Promise.reject(problems.notFound()), 'broken 404'],
    ['it is protected now', () => Promise.reject(new NotDeliverable('Protected')), 'broken 502'],
    ['resolving fails', () => Promise.reject(createProblem('site-error')), 'broken 502'],
    ['resolving does not help', async () => freshAt('/file'), 'broken 502'],
    ['the renewed URL has other bytes', async () => freshAt('/fresh'), 'broken 502'],
  ])('fails the stream when %s', async (_, refresh, outcome) => {
    const before = createFaultHandler({ bytes, fault: { name: 'expire', from: 1, status: 403 } });
    const after = createFaultHandler({ bytes: bytesOf(bytes.length, 7) });
    upstream.use((request, response) => (request.url === '/fresh' ? after : before)(request, response));
    expect(await readAll((await openWith({ refresh })).read(0))).toBe(outcome);
  });
});

describe('file source that is served from a moment on', () => {
  /** Serves the file from a moment on, `lateMs` after what its track states, and answers 403 before. */
  const openLater = (waitMs: number, { lateMs = 0, ...more }: Partial<Track> & { readonly lateMs?: number } = {}) => {
    const availableAt = (Date.now() + waitMs) / 1000;
    const handler = createFaultHandler({ bytes });
    const statuses: number[] = [];
    upstream.use((request, response) => {
      const isServed = Date.now() >= availableAt * 1000 + lateMs;
      statuses.push(isServed ? 200 : 403);
      return isServed ? handler(request, response) : void response.writeHead(403).end();
    });
    const refresh = vi.fn(async (resource: Resource) => resource);
    const open = (limits: Partial<SourceLimits> = {}) => openWith({ refresh, limits }, { availableAt, ...more });
    return { open, refresh, statuses };
  };

  it('waits without a request, and without resolving again', async () => {
    const { open, refresh, statuses } = openLater(200);
    expect(await readAll((await open()).read(0))).toBe(whole);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(refresh).not.toHaveBeenCalled();
  });

  it('requests the same URL again when the clock of the site is behind', async () => {
    const { open, refresh, statuses } = openLater(50, { lateMs: 150 });
    const source = await open({ initialBackoffMs: 100, maxBackoffMs: 1000 });
    expect(await readAll(source.read(0))).toBe(whole);
    expect(statuses.filter((status) => status === 403).length).toBeLessThanOrEqual(2);
    expect(refresh).not.toHaveBeenCalled();
  });

  it('fails with the seconds of a longer wait, without a request', async () => {
    const { open, refresh, statuses } = openLater(25_000);
    const { details, headers } = toStreamProblem(await open().catch((error) => error));
    expect([details.type, details.status]).toEqual(['/problems/delayed', 503]);
    expect(headers['retry-after']).toMatch(/^2[1-5]$/);
    expect([statuses, refresh.mock.calls]).toEqual([[], []]);
  });

  it('stops to wait when the client leaves', async () => {
    const track = trackAt(`${upstream.origin}/file`, { availableAt: Date.now() / 1000 + 15 });
    const { seen } = fault();
    const leaving = new AbortController();
    const opening = upstream.reader()(resourceWith(track), track, { signal: leaving.signal });
    leaving.abort(new Error('Left'));
    await expect(opening).rejects.toThrow('Left');
    expect(seen).toEqual([]);
  });

  it('waits after each renewal, of which there are two, each after two further refusals', async () => {
    const { seen } = fault({ name: 'status', status: 403, times: 99 });
    const resolvedAt: number[] = [];
    const renewed = () => trackAt(`${upstream.origin}/file`, { availableAt: (Date.now() + 50) / 1000 });
    const refresh = vi.fn(async () => {
      resolvedAt.push(seen.length);
      return resourceWith(renewed());
    });
    expect(await statusOf(openWith({ refresh }, { availableAt: 1 }))).toBe(502);
    expect(resolvedAt).toEqual([3, 6]);
    expect(seen).toHaveLength(9);
  });

  it('is inspected without waiting', async () => {
    const track = trackAt(`${upstream.origin}/file`, { availableAt: Date.now() / 1000 + 15 });
    const { seen } = fault();
    const { peekSource } = createSourceOpeners({ egress: upstream.egress, refresh: async (resource) => resource });
    await expect(peekSource(resourceWith(track), track)).rejects.toMatchObject({ reason: 'delayed' });
    expect(seen).toEqual([]);
  });
});

describe('file source that is for browsers', () => {
  const file = bytesOf(1000);
  const openAsBrowser = (readAsBrowser: () => Promise<Buffer>) => openWith({ readAsBrowser }, { isForBrowsers: true });

  it('requests it like any other as long as it is served', async () => {
    fault();
    const source = await openAsBrowser(() => Promise.reject(new Error('Not needed')));
    expect(await readAll(source.read(0))).toBe(whole);
  });

  it.each([403, 429])('reads it as a browser after one %d', async (status) => {
    const { seen } = fault({ name: 'status', status, times: 99 });
    const source = await openAsBrowser(async () => file);
    expect([source.size, await readAll(source.read(1, 9)), seen.length]).toEqual([
      1000,
      sha256(file.subarray(1, 10)),
      1,
    ]);
  });

  it('retries as usual when that fails too', async () => {
    const { seen } = fault({ name: 'status', status: 429, times: 3 });
    const source = await openAsBrowser(() => Promise.reject(new Error('No yt-dlp')));
    expect(await readAll(source.read(0))).toBe(whole);
    expect(seen.length).toBeGreaterThan(3);
  });
});

describe('file source of a probed host', () => {
  const OFFSET = MiB;
  const isLimited = (request: IncomingMessage) => Number(/-(\d+)$/.exec(request.headers.range ?? '')?.[1]) >= OFFSET;
  const refuse = (response: ServerResponse, status: number) =>
    response.writeHead(status, { 'content-length': 0 }).end();
  const probed = { probedHosts: ['127.0.0.1'] };
  const sized = { sizeBytes: bytes.length, sizeIsExact: true, durationSeconds: 300 };
  const fresh = () => vi.fn(async () => resourceWith(trackAt(`${upstream.origin}/fresh`, sized)));
  /** Serves the start of a file, and limits what follows. @param only the path that is limited. @default any */
  const limit = (answer: (response: ServerResponse) => void, only?: string, times = Number.POSITIVE_INFINITY) => {
    const handler = createFaultHandler({ bytes });
    let count = 0;
    upstream.use((request, response) => {
      const isAffected = isLimited(request) && (only ?? request.url) === request.url && count++ < times;
      return isAffected ? answer(response) : handler(request, response);
    });
  };

  it.each<[string, (response: ServerResponse) => void]>([
    ['answers 403', (response) => refuse(response, 403)],
    ['answers 404', (response) => refuse(response, 404)],
    ['answers 416', (response) => refuse(response, 416)],
    ['closes the connection', (response) => response.destroy()],
    [
      'ends the body early',
      (response) => {
        const range = `bytes ${OFFSET}-${OFFSET + 1023}/${bytes.length}`;
        response.writeHead(206, { 'content-range': range, 'content-length': 1024 }).flushHeaders();
        response.destroy();
      },
    ],
    ['does not answer', () => undefined],
  ])('opens with a fresh URL when what follows the start %s', async (_, answer) => {
    limit(answer, '/file');
    const refresh = fresh();
    const source = await openWith({ ...probed, refresh, limits: { stallTimeoutMs: 250 } }, sized);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(await readAll(source.read(0))).toBe(whole);
  });

  it.each([
    [403, 502],
    [404, 404],
    [416, 502],
  ])('answers %d of the fresh URL too with %d', async (status, answered) => {
    limit((response) => refuse(response, status));
    const refresh = fresh();
    expect(await statusOf(openWith({ ...probed, refresh }, sized))).toBe(answered);
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it('waits for an exact size before it probes', async () => {
    limit((response) => refuse(response, 403), '/file');
    const refresh = fresh();
    const source = await openWith({ ...probed, refresh }, { sizeBytes: 2 * bytes.length, durationSeconds: 300 });
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(await readAll(source.read(0))).toBe(whole);
  });

  it('leaves a source that is overloaded to the retries of the reader', async () => {
    limit((response) => refuse(response, 503), '/file', 3);
    const source = await openWith(probed, sized);
    expect(await readAll(source.read(0))).toBe(whole);
  });

  it.each<[string, Parameters<Upstream['reader']>[0], Partial<Track>, number]>([
    ['of another host', { probedHosts: ['example.org'] }, sized, 0],
    ['shorter than a minute', probed, { ...sized, durationSeconds: 59 }, 0],
    ['read from behind the first minute', probed, sized, 2 * MiB],
  ])('sends no further request for a file %s', async (_, options, track, first) => {
    const { seen } = fault();
    (await openWith(options, track, first)).close();
    expect(seen).toHaveLength(1);
  });

  it('sends one further request for each URL, of some bytes', async () => {
    const { seen } = fault();
    const track = trackAt(`${upstream.origin}/file`, sized);
    const open = upstream.reader(probed);
    for (let count = 0; count < 3; count++) (await open(resourceWith(track), track)).close();
    expect(seen.filter(({ range }) => range === `bytes=${OFFSET}-${OFFSET + 1023}`)).toHaveLength(1);
    expect(seen).toHaveLength(4);
  });

  it('accepts a source that ignores Range', async () => {
    fault({ name: 'ignore-range', length: true });
    const source = await openWith(probed, sized);
    expect(await readAll(source.read(0))).toBe(whole);
  });
});
