import { createCipheriv } from 'node:crypto';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Problem } from '../../../layers/contract/index.ts';
import type { Track } from '../../../layers/state/index.ts';
import type { SegmentedSource } from '../../../stream-service/source/index.ts';
import { createFaultHandler, type Fault, type FaultHandler } from '../../origin/faults.ts';
import { ask } from '../../support/ask.ts';
import { bytesOf, resourceWith, sha256, startUpstream, trackAt, type Upstream } from './upstream.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

const segments = [0, 1, 2, 3].map((index) => bytesOf(400_000 + index * 1000, index + 1));
const init = bytesOf(1000, 99);
const KEY = bytesOf(16, 5);

/** Serves files by path. A function writes its text anew for every request. */
function site(files: Readonly<Record<string, Buffer | FaultHandler | (() => string)>>) {
  const asked: string[] = [];
  const handlers = Object.entries(files).map(([path, file]) => {
    if (Buffer.isBuffer(file)) return [path, createFaultHandler({ bytes: file })] as const;
    return [path, 'seen' in file ? file : text(file)] as const;
  });
  const routes = new Map<string, FaultHandler | ReturnType<typeof text>>(handlers);
  upstream.use((request, response) => {
    asked.push(request.url ?? '');
    const route = routes.get(request.url ?? '');
    if (route) route(request, response);
    else response.writeHead(404).end();
  });
  return asked;
}
const text = (write: () => string) =>
  ((_request, response) => void response.end(write())) as (...args: Parameters<FaultHandler>) => void;

const playlist = (lines: readonly string[], end = true) =>
  ['#EXTM3U', '#EXT-X-TARGETDURATION:4', ...lines, ...(end ? ['#EXT-X-ENDLIST'] : [])].join('\n');
const listed = (from = 0, to = 4) => [0, 1, 2, 3].slice(from, to).flatMap((n) => ['#EXTINF:4,', `${n}.ts`]);
const parts = (files: readonly (Buffer | FaultHandler)[]) =>
  Object.fromEntries(files.map((file, index) => [`/${index}.ts`, file]));

const openWith = async (
  options: Parameters<Upstream['reader']>[0] = {},
  more: Partial<Track> = {},
  isLive = false,
): Promise<SegmentedSource> => {
  const track = trackAt(`${upstream.origin}/index.m3u8`, { delivery: 'hls', ...more });
  const source = await upstream.reader(options)(resourceWith(track, { isLive }), track);
  if (source.kind !== 'segments') throw new Error('not segments');
  return source;
};
const readAll = async (stream: Readable) =>
  buffer(stream).then(sha256, (error: unknown) => `broken ${error instanceof Problem ? error.details.status : error}`);
const statusOf = (opening: Promise<unknown>) =>
  opening.then(
    () => 'opened',
    (error: unknown) => (error instanceof Problem ? error.details.status : error),
  );
const whole = sha256(Buffer.concat(segments));
const same = async (resource: ReturnType<typeof resourceWith>) => resource;

describe('an HLS playlist', () => {
  it('is read as one file', async () => {
    site({ '/index.m3u8': () => playlist(listed()), ...parts(segments) });
    const source = await openWith();
    expect(source.durationSeconds).toBe(16);
    const { stream, startSeconds } = source.readFrom(0);
    expect([startSeconds, await readAll(stream)]).toEqual([0, whole]);
  });

  it.each([
    [3.9, 0, 0],
    [4, 1, 4],
    [9, 2, 8],
    [99, 3, 12],
  ])('is read from %d s on at a segment', async (seconds, index, start) => {
    site({ '/index.m3u8': () => playlist(listed()), ...parts(segments) });
    const { stream, startSeconds } = (await openWith()).readFrom(seconds);
    expect(startSeconds).toBe(start);
    expect(await readAll(stream)).toBe(sha256(Buffer.concat(segments.slice(index))));
  });

  it('gives each initialization section where it changes', async () => {
    const lines = ['#EXT-X-MAP:URI="init.mp4"', ...listed(0, 2), '#EXT-X-DISCONTINUITY', '#EXT-X-MAP:URI="b.mp4"'];
    const [a, b, c, d] = segments as [Buffer, Buffer, Buffer, Buffer];
    const other = bytesOf(700, 77);
    site({
      '/index.m3u8': () => playlist([...lines, ...listed(2, 4)]),
      '/init.mp4': init,
      '/b.mp4': other,
      ...parts(segments),
    });
    const source = await openWith();
    expect(await readAll(source.readFrom(0).stream)).toBe(sha256(Buffer.concat([init, a, b, other, c, d])));
    expect(await readAll(source.readFrom(5).stream)).toBe(sha256(Buffer.concat([init, b, other, c, d])));
    expect(await readAll(source.readFrom(9).stream)).toBe(sha256(Buffer.concat([other, c, d])));
  });

  it('may name runs of bytes, with and without where they begin', async () => {
    const file = Buffer.concat([init, ...segments]);
    const lines = [
      `#EXT-X-MAP:URI="all.mp4",BYTERANGE="${init.length}@0"`,
      ...segments.flatMap(({ length }, index) => [
        '#EXTINF:4,',
        `#EXT-X-BYTERANGE:${length}${index === 0 ? `@${init.length}` : ''}`,
        'all.mp4',
      ]),
    ];
    const asked = site({ '/index.m3u8': () => playlist(lines), '/all.mp4': file });
    expect(await readAll((await openWith()).readFrom(0).stream)).toBe(sha256(file));
    expect(asked).toHaveLength(6);
  });

  it('is deciphered, with an IV of its own and with the number of the segment', async () => {
    const iv = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
    const numbered = (number: number) => {
      const iv = Buffer.alloc(16);
      iv.writeUInt32BE(number, 12);
      return iv;
    };
    const encrypt = (bytes: Buffer, iv: Buffer) => {
      const cipher = createCipheriv('aes-128-cbc', KEY, iv);
      return Buffer.concat([cipher.update(bytes), cipher.final()]);
    };
    const [a, b, c, d] = segments as [Buffer, Buffer, Buffer, Buffer];
    const asked = site({
      '/index.m3u8': () =>
        playlist([
          '#EXT-X-MEDIA-SEQUENCE:7',
          '#EXT-X-KEY:METHOD=AES-128,URI="key"',
          ...listed(0, 2),
          `#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x${iv.toString('hex')}`,
          ...listed(2, 3),
          '#EXT-X-KEY:METHOD=NONE',
          ...listed(3, 4),
        ]),
      '/key': KEY,
      ...parts([encrypt(a, numbered(7)), encrypt(b, numbered(8)), encrypt(c, iv), d]),
    });
    expect(await readAll((await openWith()).readFrom(0).stream)).toBe(whole);
    expect(asked.filter((path) => path === '/key')).toHaveLength(1);
  });

  it('with gaps is read around them, and they are not asked for', async () => {
    const gap = (name: string) => ['#EXT-X-GAP', '#EXTINF:4,', name];
    const lines = [...gap('x.ts'), ...listed(0, 2), ...gap('y.ts'), ...gap('2.ts'), ...listed(3, 4), ...gap('z.ts')];
    const asked = site({ '/index.m3u8': () => playlist(lines), ...parts(segments) });
    const source = await openWith();
    expect([source.durationSeconds, source.gapSeconds]).toEqual([20, 8]);
    const [a = init, b = init, , d = init] = segments;
    expect(await readAll(source.readFrom(0).stream)).toBe(sha256(Buffer.concat([a, b, d])));
    const { stream, startSeconds } = source.readFrom(11);
    expect([startSeconds, await readAll(stream)]).toEqual([4, sha256(Buffer.concat([b, d]))]);
    expect(new Set(asked)).toEqual(new Set(['/index.m3u8', '/0.ts', '/1.ts', '/3.ts']));
  });

  it('of nothing but gaps does not open', async () => {
    site({ '/index.m3u8': () => playlist(['#EXT-X-GAP', ...listed(0, 1)]), ...parts(segments) });
    expect(await statusOf(openWith())).toBe(502);
  });

  it('of a source that wants a Range for everything is read by bounded ranges', async () => {
    const strict = (bytes: Buffer) => createFaultHandler({ bytes, fault: { name: 'strict', largest: 64 * 1024 } });
    const cipher = createCipheriv('aes-128-cbc', KEY, Buffer.alloc(16));
    const last = Buffer.concat([cipher.update(segments[3] ?? init), cipher.final()]);
    const key = '#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x00000000000000000000000000000000';
    const files = [...segments.slice(0, 3), last].map(strict);
    const list = strict(Buffer.from(playlist(['#EXT-X-MAP:URI="init.mp4"', ...listed(0, 3), key, ...listed(3, 4)])));
    site({ '/index.m3u8': list, '/init.mp4': strict(init), '/key': strict(KEY), ...parts(files) });
    const limits = { chunkBytes: 256 * 1024, minChunkBytes: 32 * 1024 };
    const { stream } = (await openWith({ limits })).readFrom(0);
    expect(await readAll(stream)).toBe(sha256(Buffer.concat([init, ...segments])));
    // Found out once, by the playlist.
    expect(list.seen.map(({ range }) => range)).toEqual([undefined, 'bytes=0-32767']);
    const ranges = files.flatMap(({ seen }) => seen.map(({ range = 'none' }) => range));
    expect(ranges.filter((range) => !/^bytes=\d+-\d+$/.test(range))).toEqual([]);
  });

  it.each([400, 403, 405, 416])('of a source that answers %d without a Range is read', async (status) => {
    const files = segments.map((bytes) => {
      const good = createFaultHandler({ bytes });
      return Object.assign(
        (...[request, response]: Parameters<FaultHandler>) =>
          request.headers.range ? good(request, response) : void response.writeHead(status).end(),
        { seen: [], renew: () => undefined },
      );
    });
    site({ '/index.m3u8': () => playlist(listed()), ...parts(files) });
    expect(await readAll((await openWith()).readFrom(0).stream)).toBe(whole);
  });

  it('of a master is that of its best variant, relative to where it was found', async () => {
    const master = ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', 'no.m3u8', '#EXT-X-STREAM-INF:BANDWIDTH=9', 'a/b.m3u8'];
    site({
      '/index.m3u8': () => master.join('\n'),
      '/a/b.m3u8': () => playlist(listed()),
      ...Object.fromEntries(segments.map((bytes, index) => [`/a/${index}.ts`, bytes])),
    });
    expect(await readAll((await openWith()).readFrom(0).stream)).toBe(whole);
  });

  it.each<[string, string | (() => string), number]>([
    ['is not there', '', 404],
    ['is a page', () => '<html>', 502],
    ['is empty', () => '', 502],
    ['lists nothing', () => playlist([]), 502],
    ['is protected', () => playlist(['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x"', ...listed()]), 502],
    ['names no key that is there', () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="no"', ...listed()]), 404],
    ['names a key that is a page', () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="1.ts"', ...listed()]), 502],
    ['names a key that is too short', () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="short"', ...listed()]), 502],
    ['names segments that are gone', () => playlist(['#EXTINF:4,', 'gone.ts']), 404],
    ['names a private address', () => playlist(['#EXTINF:4,', 'http://169.254.169.254/x']), 404],
    ['names something that is not http', () => playlist(['#EXTINF:4,', 'file:///etc/passwd']), 404],
    ['is a master of itself', () => '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nindex.m3u8', 502],
    ['lists too much', () => playlist(Array.from({ length: 60 }, () => listed()).flat()), 502],
    ['is too large', () => `#EXTM3U\n${'#'.repeat(200_000)}`, 502],
  ])('that %s does not open', async (_, write, status) => {
    site({
      ...(typeof write === 'function' && { '/index.m3u8': write }),
      '/short': KEY.subarray(1),
      ...parts(segments),
    });
    const limits = { segments: 200, playlistBytes: 100_000 };
    expect(await statusOf(openWith({ refresh: same, limits }))).toBe(status);
  });

  it.each<[string, Fault]>([
    ['drops twice', { name: 'drop', after: 100_000, times: 2 }],
    ['stalls', { name: 'stall', after: 100_000, times: 1 }],
    ['ignores Range and drops', { name: 'ignore-range', length: true, dropAfter: 100_000 }],
    ['is out of order for a moment', { name: 'status', status: 500, times: 3 }],
    ['never says a length', { name: 'ignore-range', length: false }],
    ['throttles', { name: 'throttle', bytesPerSecond: 2_000_000 }],
    ['tells its end by the end of the connection', { name: 'unframed', after: 0, times: 0 }],
  ])('whose source %s in a segment is read without a byte lost', async (_, fault) => {
    const files = segments.map((bytes, index) => (index === 1 ? createFaultHandler({ bytes, fault }) : bytes));
    site({ '/index.m3u8': () => playlist(listed()), ...parts(files) });
    expect(await readAll((await openWith()).readFrom(0).stream)).toBe(whole);
  });

  it.each<[string, Fault, string]>([
    ['stays dead', { name: 'status', status: 500, times: 99 }, 'broken 502'],
    ['is gone', { name: 'status', status: 404, times: 99 }, 'broken 404'],
    ['changes while it is read', { name: 'drop', after: 100_000, times: 99 }, 'broken 502'],
  ])('with a segment that %s breaks instead of leaving it out', async (_, fault, outcome) => {
    let count = 0;
    const [bytes = init] = segments;
    const other = createFaultHandler({ bytes: bytesOf(bytes.length, 50) });
    const bad = createFaultHandler({ bytes, fault });
    const changing = Object.assign(
      (...args: Parameters<FaultHandler>) => (fault.name === 'drop' && count++ > 0 ? other : bad)(...args),
      { seen: [], renew: () => undefined },
    );
    const files = segments.map((bytes, index) => (index === 2 ? changing : bytes));
    site({ '/index.m3u8': () => playlist(listed()), ...parts(files) });
    expect(await readAll((await openWith({ refresh: same })).readFrom(0).stream)).toBe(outcome);
  });

  it('whose padding is wrong breaks', async () => {
    site({
      '/index.m3u8': () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="key"', ...listed()]),
      '/key': KEY,
      ...parts([bytesOf(160_000), ...segments.slice(1)]),
    });
    expect(await readAll((await openWith()).readFrom(0).stream)).toMatch(/^broken/);
  });

  describe('whose segments end when the connection does', () => {
    /** As MPEG-TS goes, without timestamps. */
    const packets = (seed: number, count = 2000) => {
      const bytes = bytesOf(188 * count, seed);
      for (let at = 0; at < bytes.length; at += 188) bytes.writeUInt32BE(0x4741_0010, at);
      for (let at = 4; at < bytes.length; at += 188) bytes.writeUInt32BE(0x0000_01ff, at);
      return bytes;
    };
    const media = [1, 2, 3].map((seed) => packets(seed));
    const right = sha256(Buffer.concat(media));
    const lines = listed(0, 3);
    const isUntold = { etag: null };
    const faulty = (fault: Fault, bytes: Buffer, more: { etag?: null } = isUntold) =>
      media.map((plain, index) => (index === 1 ? createFaultHandler({ bytes, fault, ...more }) : plain));

    it.each<[string, number, { etag?: null }]>([
      ['twice', 100_000, isUntold],
      ['twice, though the source tells its versions apart', 100_000, {}],
      ['before the first byte', 0, isUntold],
    ])('asks again for one that was cut %s', async (_, after, more) => {
      const fault: Fault = { name: 'unframed', after, times: 2 };
      site({ '/index.m3u8': () => playlist(lines), ...parts(faulty(fault, media[1] ?? init, more)) });
      expect(await readAll((await openWith()).readFrom(0).stream)).toBe(right);
    });

    it('breaks when one stays cut', async () => {
      const bad = faulty({ name: 'unframed', after: 100_000, times: 99 }, media[1] ?? init);
      site({ '/index.m3u8': () => playlist(lines), ...parts(bad) });
      expect(await readAll((await openWith()).readFrom(0).stream)).toBe('broken 502');
    });

    it('breaks when one that was cut begins otherwise the next time', async () => {
      const [cut, other] = [media[1] ?? init, packets(9)].map((bytes, index) =>
        createFaultHandler({ bytes, etag: null, fault: { name: 'unframed', after: 100_000, times: 1 - index } }),
      );
      let count = 0;
      const changing = Object.assign((...args: Parameters<FaultHandler>) => (count++ > 0 ? other : cut)?.(...args), {
        seen: [],
        renew: () => undefined,
      });
      site({ '/index.m3u8': () => playlist(lines), ...parts([media[0] ?? init, changing, media[2] ?? init]) });
      expect(await readAll((await openWith()).readFrom(0).stream)).toBe('broken 502');
      expect(count).toBe(2);
    });

    it('asks again for one whose cipher text was cut between two blocks', async () => {
      const cipher = createCipheriv('aes-128-cbc', KEY, Buffer.alloc(16));
      const bytes = Buffer.concat([cipher.update(media[1] ?? init), cipher.final()]);
      const key = '#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x00000000000000000000000000000000';
      const encrypted = createFaultHandler({ bytes, fault: { name: 'unframed', after: 160_000, times: 2 } });
      site({
        '/index.m3u8': () => playlist([key, '#EXTINF:4,', '1.ts']),
        '/key': createFaultHandler({ bytes: KEY, fault: { name: 'unframed', after: 7, times: 2 } }),
        '/1.ts': encrypted,
      });
      expect(await readAll((await openWith()).readFrom(0).stream)).toBe(sha256(media[1] ?? init));
      expect(encrypted.seen).toHaveLength(3);
    });

    it('asks again for a playlist that was cut', async () => {
      const list = Buffer.from(playlist(['#EXT-X-PLAYLIST-TYPE:VOD', ...lines]));
      const cut = createFaultHandler({ bytes: list, fault: { name: 'unframed', after: list.length - 20, times: 2 } });
      site({ '/index.m3u8': cut, ...parts(media) });
      const source = await openWith();
      expect(source.durationSeconds).toBe(12);
      expect(await readAll(source.readFrom(0).stream)).toBe(right);
    });
  });

  it('whose URLs expire in the middle is found again and goes on at the same byte', async () => {
    const bytes = segments[2] ?? init;
    const dying = createFaultHandler({ bytes, fault: { name: 'drop', after: 50_000, times: 1 } });
    let isDead = false;
    const files: Record<string, Buffer | FaultHandler | (() => string)> = {
      '/index.m3u8': () => playlist(listed()),
      ...parts(segments),
      '/fresh.m3u8': () => playlist(listed().map((line) => (line.endsWith('.ts') ? `fresh-${line}` : line))),
      ...Object.fromEntries(segments.map((bytes, index) => [`/fresh-${index}.ts`, bytes])),
    };
    files['/2.ts'] = Object.assign(
      (...[request, response]: Parameters<FaultHandler>) => {
        if (isDead) return void response.writeHead(403).end();
        isDead = true;
        dying(request, response);
      },
      { seen: [], renew: () => undefined },
    );
    site(files);
    const refresh = vi.fn(async () => resourceWith(trackAt(`${upstream.origin}/fresh.m3u8`, { delivery: 'hls' })));
    expect(await readAll((await openWith({ refresh })).readFrom(0).stream)).toBe(whole);
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it('that lists other media when it is found again breaks', async () => {
    site({
      '/index.m3u8': () => playlist([...listed(0, 2), '#EXTINF:4,', 'gone.ts']),
      '/fresh.m3u8': () => playlist(listed()),
      ...parts(segments),
    });
    const refresh = async () => resourceWith(trackAt(`${upstream.origin}/fresh.m3u8`, { delivery: 'hls' }));
    expect(await readAll((await openWith({ refresh })).readFrom(0).stream)).toBe('broken 502');
  });

  it('ends its requests when nobody reads on', async () => {
    const slow = createFaultHandler({ bytes: init, fault: { name: 'throttle', bytesPerSecond: 100 } });
    site({ '/index.m3u8': () => playlist(listed()), ...parts([slow]) });
    const { stream } = (await openWith()).readFrom(0);
    await once(stream, 'readable');
    stream.destroy();
    await expect.poll(() => slow.seen.map(({ state }) => state)).toEqual(['left']);

    (await openWith()).close();
    await expect.poll(() => slow.seen[1]?.state).toBe('left');
  });
});

describe('a live playlist', () => {
  const files = Object.fromEntries([0, 1, 2, 3].map((index) => [`/${index}.ts`, segments[index] ?? init]));
  const sliding = (from: number, to: number, end = false) =>
    playlist(['#EXT-X-TARGETDURATION:0', `#EXT-X-MEDIA-SEQUENCE:${from}`, ...listed(from, to)], end);

  it('is followed to its end, without a segment twice or left out', async () => {
    let look = 0;
    site({
      '/index.m3u8': () => [sliding(0, 1), sliding(0, 1), sliding(0, 3), sliding(1, 3)][look++] ?? sliding(2, 4, true),
      ...files,
    });
    const source = await openWith({}, {}, true);
    expect(source.durationSeconds).toBeUndefined();
    expect(await readAll(source.readFrom(0).stream)).toBe(whole);
  });

  it('begins with the newest segments', async () => {
    let look = 0;
    site({ '/index.m3u8': () => (look++ === 0 ? sliding(0, 4) : sliding(0, 4, true)), ...files });
    const { stream, startSeconds } = (await openWith({}, {}, true)).readFrom(99);
    expect([startSeconds, await readAll(stream)]).toEqual([0, sha256(Buffer.concat(segments.slice(1)))]);
  });

  it('goes on behind a gap', async () => {
    let look = 0;
    const gap = ['#EXT-X-GAP', '#EXTINF:4,', 'gone.ts'];
    const lists = [[...listed(0, 1)], [...listed(0, 1), ...gap], [...listed(0, 1), ...gap, ...listed(2, 3)]];
    const asked = site({
      '/index.m3u8': () =>
        playlist(['#EXT-X-TARGETDURATION:0', ...(lists[look++] ?? [...(lists[2] ?? []), ...gap])], look > 3),
      ...files,
    });
    const source = await openWith({}, {}, true);
    const right = Buffer.concat([segments[0] ?? init, segments[2] ?? init]);
    expect(await readAll(source.readFrom(0).stream)).toBe(sha256(right));
    expect(asked).not.toContain('/gone.ts');
  });

  it('that has nothing but gaps any more breaks', async () => {
    let look = 0;
    site({
      '/index.m3u8': () =>
        playlist(
          ['#EXT-X-TARGETDURATION:0', ...listed(0, 1), ...Array(look++).fill('#EXT-X-GAP\n#EXTINF:4,\nx.ts')],
          false,
        ),
      ...files,
    });
    const source = await openWith({ limits: { liveStall: 50 } }, {}, true);
    expect(await readAll(source.readFrom(0).stream)).toBe('broken 502');
  });

  it('that stops moving breaks', async () => {
    site({ '/index.m3u8': () => sliding(0, 2), ...files });
    const source = await openWith({ limits: { liveStall: 50 } }, {}, true);
    expect(await readAll(source.readFrom(0).stream)).toBe('broken 502');
  });

  it('is looked at no more once the consumer has left', async () => {
    const asked = site({ '/index.m3u8': () => sliding(0, 2), ...files });
    const { stream } = (await openWith({}, {}, true)).readFrom(0);
    stream.resume();
    await expect.poll(() => asked.filter((path) => path === '/index.m3u8').length).toBeGreaterThan(2);
    stream.destroy();
    await once(stream, 'close');
    const looks = asked.length;
    // Time in which a list that is looked at every 5 ms would be asked for many times.
    const others = 50;
    for (let left = others; left > 0; left--) await ask(`${upstream.origin}/0.ts`);
    expect(asked.length - looks - others).toBeLessThanOrEqual(1);
  });
});

describe('DASH fragments', () => {
  const fragmentsOf = (prefix = '', from = 0, to = 4) => [
    { url: `${upstream.origin}/${prefix}init.mp4`, seconds: 0 },
    ...[0, 1, 2, 3].slice(from, to).map((n) => ({ url: `${upstream.origin}/${prefix}${n}.ts`, seconds: 2.5 })),
  ];
  const dash = (fragments = fragmentsOf()): Partial<Track> => ({ delivery: 'dash', fragments });

  it('are read behind their initialization', async () => {
    site({ '/init.mp4': init, ...parts(segments) });
    const source = await openWith({}, dash());
    expect(source.durationSeconds).toBe(10);
    expect(await readAll(source.readFrom(0).stream)).toBe(sha256(Buffer.concat([init, ...segments])));
    const { stream, startSeconds } = source.readFrom(6);
    expect(startSeconds).toBe(5);
    expect(await readAll(stream)).toBe(sha256(Buffer.concat([init, ...segments.slice(2)])));
  });

  it('that were too many to keep are resolved again', async () => {
    site({ '/init.mp4': init, ...parts(segments) });
    const refresh = vi.fn(async () => resourceWith(trackAt('', dash())));
    const source = await openWith({ refresh }, { delivery: 'dash' });
    expect(await readAll(source.readFrom(0).stream)).toBe(sha256(Buffer.concat([init, ...segments])));
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it('that cannot be had do not open', async () => {
    expect(await statusOf(openWith({ refresh: same }, { delivery: 'dash' }))).toBe(502);
  });

  it('that expire are found again', async () => {
    site({
      '/init.mp4': init,
      '/fresh/init.mp4': init,
      ...parts(segments.slice(0, 2)),
      ...Object.fromEntries(segments.map((bytes, index) => [`/fresh/${index}.ts`, bytes])),
    });
    const refresh = async () => resourceWith(trackAt('', dash(fragmentsOf('fresh/'))));
    const source = await openWith({ refresh }, dash());
    expect(await readAll(source.readFrom(0).stream)).toBe(sha256(Buffer.concat([init, ...segments])));
  });

  it('of a live source are looked for again', async () => {
    site({ '/init.mp4': init, ...parts(segments) });
    let look = 0;
    const lists = [fragmentsOf('', 0, 2), fragmentsOf('', 1, 3), fragmentsOf('', 1, 4)];
    const refresh = async () =>
      resourceWith(
        trackAt('', dash((lists[look++] ?? lists[2] ?? []).map((f) => ({ ...f, seconds: f.seconds && 0.01 })))),
      );
    const source = await openWith(
      { refresh, limits: { liveStall: 100 } },
      dash(fragmentsOf('', 0, 1).map((f) => ({ ...f, seconds: f.seconds && 0.01 }))),
      true,
    );
    const chunks: Buffer[] = [];
    const { stream } = source.readFrom(0);
    stream.on('data', (chunk) => chunks.push(chunk));
    await once(stream, 'error').catch(() => undefined);
    expect(sha256(Buffer.concat(chunks))).toBe(sha256(Buffer.concat([init, ...segments])));
  });
});
