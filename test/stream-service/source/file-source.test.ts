import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { problems, toStreamProblem } from '../../../core/api/problem.ts';
import { NotDeliverable } from '../../../core/errors/errors.ts';
import type { Track } from '../../../core/state/resource.ts';
import type { FileSource, Source } from '../../../stream-service/source/source.ts';
import { createFaultHandler, type Fault, type FaultOptions } from '../../origin/faults.ts';
import { bytesOf, resourceWith, sha256, startUpstream, trackAt, type Upstream } from './upstream.ts';

const MiB = 1024 * 1024;
const bytes = bytesOf(3 * MiB + 12_345);

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

const fault = (fault?: Fault, more: Partial<FaultOptions> = {}) => {
  const handler = createFaultHandler({ bytes, ...(fault && { fault }), ...more });
  upstream.use(handler);
  return handler;
};
const isFile = (source: Source): FileSource => {
  if (source.needsRemux) throw new Error('not a file');
  return source;
};
const openWith = async (
  options: Parameters<Upstream['reader']>[0] = {},
  more: Partial<Track> = {},
  first = 0,
): Promise<FileSource> => {
  const track = trackAt(`${upstream.origin}/file`, more);
  return isFile(await upstream.reader(options)(resourceWith(track), track, undefined, { first }));
};
/** The digest of the delivered bytes, or `broken` with the status of the failure. */
const readAll = async (stream: Readable) =>
  buffer(stream).then(sha256, (error: unknown) => `broken ${toStreamProblem(error).details.status}`);
const whole = sha256(bytes);
const statusOf = (opening: Promise<unknown>) =>
  opening.then(
    () => 'opened',
    (error: unknown) => toStreamProblem(error).details.status,
  );

describe('file source, when the upstream', () => {
  it.each<[string, Fault | undefined]>([
    ['behaves', undefined],
    ['drops once', { name: 'drop', after: 300_000, times: 1 }],
    ['drops in every answer for a while', { name: 'drop', after: 100_001, times: 12 }],
    ['drops before the first byte', { name: 'drop', after: 0, times: 3 }],
    ['stalls', { name: 'stall', after: 500_000, times: 2 }],
    ['sends less than it said', { name: 'short-body', by: 1000, times: 3 }],
    ['sends more than it said', { name: 'long-body', by: 1000 }],
    ['answers another range at first', { name: 'wrong-range', times: 2 }],
    ['forgets Content-Range at first', { name: 'no-range-header', times: 2 }],
    ['forbids HEAD, open ends and large ranges', { name: 'strict', largest: MiB }],
    ['ignores Range', { name: 'ignore-range', length: true }],
    ['ignores Range and drops', { name: 'ignore-range', length: true, dropAfter: 1_500_000, times: 2 }],
    ['ignores Range and says no length', { name: 'ignore-range', length: false }],
    ['ignores Range, says no length and drops', { name: 'ignore-range', length: false, dropAfter: 700_000 }],
    ['resets connections', { name: 'reset', times: 3 }],
    ['starts slowly', { name: 'slow-start', milliseconds: 20 }],
    ['is out of order for a moment', { name: 'status', status: 503, times: 3 }],
    ['answers 429 with Retry-After', { name: 'status', status: 429, times: 2, retryAfter: '1' }],
    ['never says a length', { name: 'chunked' }],
    ['throttles each connection', { name: 'throttle', bytesPerSecond: 4 * MiB }],
  ])('%s, delivers every byte', async (_, how) => {
    const { seen } = fault(how);
    const source = await openWith();
    expect(await readAll(source.read(0))).toBe(whole);
    expect(seen.filter(({ method }) => method !== 'GET')).toEqual([]);
    expect(seen.filter(({ range }) => range?.endsWith('-'))).toEqual([]);
  });

  it.each<[string, Fault | undefined]>([
    ['behaves', undefined],
    ['drops twice', { name: 'drop', after: 200_000, times: 2 }],
    ['forbids large ranges', { name: 'strict', largest: MiB }],
    ['ignores Range', { name: 'ignore-range', length: true }],
  ])('%s, delivers exactly the range', async (_, how) => {
    for (const [first, last] of [
      [0, 0],
      [0, 99_999],
      [1_000_000, 1_000_000],
      [777_777, 2_999_999],
      [bytes.length - 1, bytes.length - 1],
      [2 * MiB, undefined],
    ] as const) {
      fault(how);
      const source = await openWith({}, {}, first);
      expect(source.size).toBe(bytes.length);
      expect(await readAll(source.read(first, last))).toBe(sha256(bytes.subarray(first, (last ?? bytes.length) + 1)));
    }
  });

  it.each<[string, Fault, number]>([
    ['is gone', { name: 'status', status: 404, times: 99 }, 404],
    ['has removed it', { name: 'status', status: 410, times: 99 }, 404],
    ['refuses', { name: 'status', status: 403, times: 99 }, 502],
    ['is out of order', { name: 'status', status: 500, times: 99 }, 502],
    ['is too busy', { name: 'status', status: 429, times: 99, retryAfter: 'Fri, 21 Nov 2036 00:00:00 GMT' }, 502],
    ['resets every connection', { name: 'reset', times: 99 }, 502],
    ['never answers with the right range', { name: 'wrong-range', times: 99 }, 502],
    ['drops every answer at once', { name: 'drop', after: 0, times: 99 }, 502],
    ['stalls in every answer', { name: 'stall', after: 0, times: 99 }, 502],
    ['says gzip', { name: 'encoded' }, 502],
    ['answers something odd', { name: 'status', status: 299, times: 99 }, 502],
    ['wants payment', { name: 'status', status: 402, times: 99 }, 502],
  ])('%s, fails to open', async (_, how, status) => {
    fault(how);
    const refresh = async (resource: ReturnType<typeof resourceWith>) => resource;
    expect(await statusOf(openWith({ refresh, limits: { stallTimeoutMs: 50 } }))).toBe(status);
  });

  it('is empty, fails to open', async () => {
    fault(undefined, { bytes: Buffer.alloc(0) });
    expect(await statusOf(openWith())).toBe(502);
  });

  it.each<[string, Fault]>([
    ['has another size', { name: 'wrong-total', from: 1 }],
    ['has another ETag', { name: 'changed', from: 1, by: 'tag' }],
    ['keeps dropping without a byte more', { name: 'status', status: 500, times: 0 }],
  ])('%s midway, fails the stream', async (_, how) => {
    if (how.name === 'status') {
      let count = 0;
      const good = createFaultHandler({ bytes });
      upstream.use((request, response) => (count++ === 0 ? good(request, response) : response.destroy()));
    } else fault(how);
    const source = await openWith();
    expect(await readAll(source.read(0))).toBe('broken 502');
  });

  it('changes Last-Modified midway without an ETag, fails the stream', async () => {
    fault({ name: 'changed', from: 1, by: 'date' }, { etag: null, lastModified: 'Sat, 01 Nov 2025 10:00:00 GMT' });
    const source = await openWith();
    expect(source.validator).toBe('Sat, 01 Nov 2025 10:00:00 GMT');
    expect(await readAll(source.read(0))).toBe('broken 502');
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
  const fresh = (track: Track, url: string) => resourceWith({ ...track, url });

  it.each([401, 403, 404, 410])('continues at the same byte of the renewed URL after %d', async (status) => {
    const handler = fault({ name: 'expire', from: 2, status });
    const refresh = vi.fn(async () => {
      handler.renew();
      return fresh(trackAt(''), `${upstream.origin}/fresh`);
    });
    const source = await openWith({ refresh });
    expect(await readAll(source.read(0))).toBe(whole);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(handler.seen.at(-1)?.url).toBe('/fresh');
  });

  it('sends no request to a URL whose expiry has passed', async () => {
    const handler = fault();
    const refresh = vi.fn(async () => fresh(trackAt(''), `${upstream.origin}/fresh`));
    const source = await openWith({ refresh, now: () => 2_000_000 }, { urlExpiresAt: 2000 });
    expect(await readAll(source.read(0))).toBe(whole);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(handler.seen.every(({ url }) => url === '/fresh')).toBe(true);
  });

  it('resolves once for concurrent readers', async () => {
    const handler = fault({ name: 'expire', from: 2, status: 403 });
    const refresh = vi.fn(async () => {
      handler.renew();
      return fresh(trackAt(''), `${upstream.origin}/fresh`);
    });
    const source = await openWith({ refresh });
    const slices = [source.read(0), source.read(1000), source.read(2_000_000)];
    expect(await Promise.all(slices.map(readAll))).toEqual([
      whole,
      sha256(bytes.subarray(1000)),
      sha256(bytes.subarray(2_000_000)),
    ]);
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => Promise<ReturnType<typeof resourceWith>>, string]>([
    ['the format is gone', async () => resourceWith(trackAt('', { formatId: 'another' })), 'broken 404'],
    ['the page is gone', () => Promise.reject(problems.notFound()), 'broken 404'],
    ['it is protected now', () => Promise.reject(new NotDeliverable('Protected')), 'broken 502'],
    ['resolving fails', () => Promise.reject(problems.fetchFailed()), 'broken 502'],
    ['resolving does not help', async () => fresh(trackAt(''), `${upstream.origin}/file`), 'broken 502'],
  ])('fails the stream when %s', async (_, refresh, outcome) => {
    fault({ name: 'expire', from: 1, status: 403 });
    const source = await openWith({ refresh });
    expect(await readAll(source.read(0))).toBe(outcome);
  });

  it('fails the stream when the renewed URL has other bytes', async () => {
    const before = createFaultHandler({ bytes, fault: { name: 'expire', from: 1, status: 403 } });
    const after = createFaultHandler({ bytes: bytesOf(bytes.length, 7) });
    upstream.use((request, response) => (request.url === '/fresh' ? after : before)(request, response));
    const source = await openWith({ refresh: async () => fresh(trackAt(''), `${upstream.origin}/fresh`) });
    expect(await readAll(source.read(0))).toBe('broken 502');
  });
});

describe('file source of a probed host', () => {
  const OFFSET = MiB;
  const limited = (request: IncomingMessage) => Number(/-(\d+)$/.exec(request.headers.range ?? '')?.[1]) >= OFFSET;
  const refuse = (response: ServerResponse, status: number) =>
    response.writeHead(status, { 'content-length': 0 }).end();
  const probed = { probedHosts: ['127.0.0.1'] };
  const sized = { sizeBytes: bytes.length, sizeIsExact: true, durationSeconds: 300 };
  const fresh = () => vi.fn(async () => resourceWith(trackAt(`${upstream.origin}/fresh`, sized)));
  /** Serves the start of /file, and limits what follows; /fresh is not limited. */
  const limit = (answer: (response: ServerResponse) => void) => {
    const handler = createFaultHandler({ bytes });
    upstream.use((request, response) =>
      request.url === '/file' && limited(request) ? answer(response) : handler(request, response),
    );
    return handler;
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
    limit(answer);
    const refresh = fresh();
    const source = await openWith({ ...probed, refresh }, sized);
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(await readAll(source.read(0))).toBe(whole);
  });

  it.each([
    [403, 502],
    [404, 404],
    [416, 502],
  ])('answers %d of the fresh URL too with %d', async (status, answered) => {
    const handler = createFaultHandler({ bytes });
    upstream.use((request, response) => (limited(request) ? refuse(response, status) : handler(request, response)));
    const refresh = fresh();
    expect(await statusOf(openWith({ ...probed, refresh }, sized))).toBe(answered);
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it('waits for an exact size before it probes', async () => {
    limit((response) => refuse(response, 403));
    const refresh = fresh();
    const source = await openWith({ ...probed, refresh }, { sizeBytes: 2 * bytes.length, durationSeconds: 300 });
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(await readAll(source.read(0))).toBe(whole);
  });

  it('leaves a source that is overloaded to the retries of the reader', async () => {
    let count = 0;
    const handler = createFaultHandler({ bytes });
    upstream.use((request, response) =>
      limited(request) && count++ < 3 ? refuse(response, 503) : handler(request, response),
    );
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

describe('requests of a file source', () => {
  it('use one request for a small file that is read from where it was opened', async () => {
    const { seen } = fault();
    const source = await openWith({}, {}, 2_900_000);
    expect(await readAll(source.read(2_900_000, 2_999_999))).toBe(sha256(bytes.subarray(2_900_000, 3_000_000)));
    expect(seen).toHaveLength(1);
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
    const cookie = { value: '1', hostOnly: true, path: '/', secure: false };
    const track = trackAt(`${upstream.origin}/file`, {
      headers: { 'X-Secret': 'mine' },
      cookies: [
        { ...cookie, name: 'here', domain: '127.0.0.1' },
        { ...cookie, name: 'path', domain: '127.0.0.1', path: '/file' },
        { ...cookie, name: 'other', domain: 'other.example' },
        { ...cookie, name: 'secure', domain: '127.0.0.1', secure: true },
      ],
    });
    const { createEgress } = await import('../../../core/egress/index.ts');
    const egress = createEgress({ allow: [`127.0.0.1:${port}`, new URL(upstream.origin).host] });
    const source = isFile(await upstream.reader({ egress })(resourceWith(track), track));
    expect(await readAll(source.read(0))).toBe(whole);
    expect(handler.seen[0]?.headers.cookie).toBe('here=1');
    expect(handler.seen[0]?.headers['x-secret']).toBeUndefined();
    await egress.close();
    await elsewhere.close();
  });

  it('never reach a private address', async () => {
    const track = trackAt('http://127.0.0.1:1/file');
    expect(await statusOf(upstream.reader()(resourceWith(track), track))).toBe(404);
  });
});

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
    const source = await openWith({ limits: { maxAttempts: 2 } });
    await expect.poll(() => seen[0]?.state).toBe('left');
    expect(await readAll(source.read(0, 1_000_000))).toBe(sha256(bytes.subarray(0, 1_000_001)));
  });

  it('stops opening when the client disconnects', async () => {
    const { seen } = fault({ name: 'slow-start', milliseconds: 5_000 });
    const track = trackAt(`${upstream.origin}/file`);
    const client = new AbortController();
    const opening = upstream.reader({ limits: { stallTimeoutMs: 10_000 } })(resourceWith(track), track, client.signal);
    await expect.poll(() => seen.length).toBe(1);
    client.abort(new Error('left'));
    await expect(opening).rejects.toThrow('left');
    await expect.poll(() => seen[0]?.state).toBe('left');
  });

  it('buffers little when the source is faster than the client', async () => {
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
    for (let left = 20; left > 0; left--) {
      await once(stream, 'readable');
      stream.read(65_536);
    }
    expect(sent).toBeLessThan(12 * MiB);
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
