import { createCipheriv } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { toStreamProblem } from '../../../core/api/problem.ts';
import { createFaultHandler, type Fault } from '../../origin/faults.ts';
import { madeBy } from '../../origin/media.ts';
import {
  box,
  boxOf,
  ID3,
  init,
  KEY,
  KEY_LINE,
  LISTS,
  largeBox,
  listed,
  PNG,
  parts,
  playlist,
  readAll,
  type SiteFile,
  SOUND,
  same,
  segments,
  statusOf,
  useSegmentedSite,
  whole,
} from './segmented-fixture.ts';
import { bytesOf, encryptAes128, type Handler, limitsFor, resourceWith, sha256, trackAt } from './upstream.ts';

const site = useSegmentedSite();

describe('HLS source faults', () => {
  it.each<[string, string | (() => string), number]>([
    ['is not there', '', 404],
    ['is a page', () => '<html>', 502],
    ['is empty', () => '', 502],
    ['lists nothing', () => playlist([]), 502],
    ['is protected', () => playlist(['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x"', ...listed()]), 415],
    ['names no key that is there', () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="no"', ...listed()]), 404],
    ['names a key that is a page', () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="1.ts"', ...listed()]), 502],
    ['names a key that is too short', () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="short"', ...listed()]), 502],
    ['names segments that are gone', () => playlist(['#EXTINF:4,', 'gone.ts']), 404],
    ['names a private address', () => playlist(['#EXTINF:4,', 'http://169.254.169.254/x']), 404],
    ['names something that is not http', () => playlist(['#EXTINF:4,', 'file:///etc/passwd']), 404],
    ['is a master of itself', () => '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nindex.m3u8', 502],
    ['lists too much', () => playlist(Array.from({ length: 60 }, () => listed()).flat()), 502],
    ['is too large', () => `#EXTM3U\n${'#'.repeat(200_000)}`, 502],
    ['has a tag of commas', () => playlist([`#EXT-X-KEY:${','.repeat(40_000)}`, ...listed()]), 502],
    [
      'has a key URI of 8 KB',
      () => playlist([`#EXT-X-KEY:METHOD=AES-128,URI="${'k'.repeat(8193)}"`, ...listed()]),
      502,
    ],
    ['names a segment of 8 KB', () => playlist(['#EXTINF:4,', 's'.repeat(8193)]), 502],
    ['has a tag without end', () => playlist([`#EXT-X-DATERANGE:X=${'x'.repeat(20_000)}`, ...listed()]), 502],
  ])('a playlist that %s fails to open', async (_, write, status) => {
    site.serve({
      ...(typeof write === 'function' && { '/index.m3u8': write }),
      '/short': KEY.subarray(1),
      ...parts(segments),
    });
    const limits = { maxSegments: 200, maxPlaylistBytes: 100_000 };
    expect(await statusOf(site.open({ refresh: same, limits }))).toBe(status);
  });

  const status = (code: number, times = 99): Fault => ({ name: 'status', status: code, times });
  /** The digest of the whole, or the status of what does not open. */
  const outcomeOf = (opening: ReturnType<typeof site.open>) =>
    opening.then(
      (source) => readAll(source.readAll()),
      (error: unknown) => toStreamProblem(error).details.status,
    );

  it.each<[what: 'playlist' | 'key' | 'first segment', Fault, outcome: string | number]>([
    ['playlist', status(403), 502],
    ['playlist', status(500), 502],
    ['playlist', { name: 'drop', after: 50, times: 2 }, whole],
    ['playlist', { name: 'drop', after: 0, times: 99 }, 502],
    ['first segment', status(404), 404],
    ['first segment', status(500), 502],
    ['first segment', { name: 'redirect', location: 'http://[' }, 502],
    ['first segment', { name: 'redirect', location: 'http://' }, 502],
    ['key', { name: 'unframed', after: 4, times: 2 }, whole],
    ['key', status(503, 2), whole],
    ['key', status(403), 502],
    ['key', { name: 'short-body', by: 4, times: 99 }, 502],
    ['key', { name: 'long-body', by: 4 }, 502],
    ['key', { name: 'redirect', location: 'http://[' }, 502],
    ['key', { name: 'redirect', location: 'http://' }, 502],
  ])('a %s with %j has the outcome %s', async (what, fault, outcome) => {
    const serve = (name: typeof what, bytes: Buffer) =>
      createFaultHandler({ bytes, ...(name === what && { fault }), etag: null });
    const [first = init, ...others] = segments.map((bytes) => encryptAes128(bytes, KEY));
    site.serve({
      '/index.m3u8': serve('playlist', Buffer.from(playlist([KEY_LINE, ...listed()]))),
      '/key': serve('key', KEY),
      ...parts([serve('first segment', first), ...others]),
    });
    expect(await outcomeOf(site.open({ refresh: same }))).toBe(outcome);
  });

  it.each<[string, Fault]>([
    ['never says a length', { name: 'ignore-range', length: false }],
    ['throttles', { name: 'throttle', bytesPerSecond: 2_000_000 }],
    ['tells its end by the end of the connection', { name: 'unframed', after: 0, times: 0 }],
    ['drops before the first byte', { name: 'drop', after: 0, times: 3 }],
    ['stalls before the first byte', { name: 'stall', after: 0, times: 2 }],
    ['resets', { name: 'reset', times: 3 }],
    ['starts slowly', { name: 'slow-start', milliseconds: 20 }],
    ['answers 429 with Retry-After', { name: 'status', status: 429, times: 2, retryAfter: '1' }],
    ['uses chunked coding', { name: 'chunked' }],
  ])('an upstream that %s in a segment loses no byte', async (_, fault) => {
    const files = segments.map((bytes, index) => (index === 1 ? createFaultHandler({ bytes, fault }) : bytes));
    site.serve({ '/index.m3u8': () => playlist(listed()), ...parts(files) });
    expect(await readAll((await site.open({ limits: limitsFor(fault) })).readAll())).toBe(whole);
  });

  it.each<[string, Fault, string]>([
    ['redirects to an invalid host', { name: 'redirect', location: 'http://[' }, 'broken 502'],
    ['was removed', { name: 'status', status: 410, times: 99 }, 'broken 404'],
    ['requires a login', { name: 'status', status: 401, times: 99 }, 'broken 502'],
    ['requires payment', { name: 'status', status: 402, times: 99 }, 'broken 502'],
    ['changes while it is read', { name: 'drop', after: 100_000, times: 99 }, 'broken 502'],
  ])('a segment that %s fails the stream instead of being skipped', async (_, fault, outcome) => {
    let count = 0;
    const [bytes = init] = segments;
    const other = createFaultHandler({ bytes: bytesOf(bytes.length, 50) });
    const bad = createFaultHandler({ bytes, fault });
    const isChanging = fault.name === 'drop' && fault.after > 0;
    const changing: Handler = (...args) => (isChanging && count++ > 0 ? other : bad)(...args);
    const files = segments.map((bytes, index) => (index === 2 ? changing : bytes));
    site.serve({ '/index.m3u8': () => playlist(listed()), ...parts(files) });
    const source = await site.open({ refresh: same, limits: limitsFor(fault) });
    expect(await readAll(source.readAll())).toBe(outcome);
  });

  it('invalid padding fails the stream', async () => {
    const cipher = createCipheriv('aes-128-cbc', KEY, Buffer.alloc(16)).setAutoPadding(false);
    site.serve({
      '/index.m3u8': () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="key"', ...listed()]),
      '/key': KEY,
      ...parts([cipher.update(boxOf(160_000, 7)), ...segments.slice(1)]),
    });
    expect(await readAll((await site.open()).readAll())).toMatch(/^broken/);
  });

  describe('responses delimited by connection close', () => {
    /** MPEG-TS packets without timestamps. */
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
    ])('retries a segment truncated %s', async (_, after, more) => {
      const fault: Fault = { name: 'unframed', after, times: 2 };
      site.serve({ '/index.m3u8': () => playlist(lines), ...parts(faulty(fault, media[1] ?? init, more)) });
      expect(await readAll((await site.open()).readAll())).toBe(right);
    });

    it('fails the stream when a segment stays truncated', async () => {
      const bad = faulty({ name: 'unframed', after: 100_000, times: 99 }, media[1] ?? init);
      site.serve({ '/index.m3u8': () => playlist(lines), ...parts(bad) });
      expect(await readAll((await site.open()).readAll())).toBe('broken 502');
    });

    it('fails the stream when a retried segment begins with other bytes', async () => {
      const [cut, other] = [media[1] ?? init, packets(9)].map((bytes, index) =>
        createFaultHandler({ bytes, etag: null, fault: { name: 'unframed', after: 100_000, times: 1 - index } }),
      );
      let count = 0;
      const changing: Handler = (...args) => (count++ > 0 ? other : cut)?.(...args);
      site.serve({ '/index.m3u8': () => playlist(lines), ...parts([media[0] ?? init, changing, media[2] ?? init]) });
      expect(await readAll((await site.open()).readAll())).toBe('broken 502');
      expect(count).toBe(2);
    });

    it('retries a segment whose ciphertext was truncated between two blocks', async () => {
      const bytes = encryptAes128(media[1] ?? init, KEY);
      const encrypted = createFaultHandler({ bytes, fault: { name: 'unframed', after: 160_000, times: 2 } });
      site.serve({
        '/index.m3u8': () => playlist([KEY_LINE, '#EXTINF:4,', '1.ts']),
        '/key': createFaultHandler({ bytes: KEY, fault: { name: 'unframed', after: 7, times: 2 } }),
        '/1.ts': encrypted,
      });
      expect(await readAll((await site.open()).readAll())).toBe(sha256(media[1] ?? init));
      expect(encrypted.seen).toHaveLength(3);
    });

    it('retries a truncated playlist', async () => {
      const list = Buffer.from(playlist(['#EXT-X-PLAYLIST-TYPE:VOD', ...lines]));
      const cut = createFaultHandler({ bytes: list, fault: { name: 'unframed', after: list.length - 20, times: 2 } });
      site.serve({ '/index.m3u8': cut, ...parts(media) });
      const source = await site.open();
      expect(source.durationSeconds).toBe(12);
      expect(await readAll(source.readAll())).toBe(right);
    });
  });

  it('a renewed playlist with other media fails the stream', async () => {
    site.serve({
      '/index.m3u8': () => playlist([...listed(0, 2), '#EXTINF:4,', 'gone.ts']),
      '/fresh.m3u8': () => playlist(listed()),
      ...parts(segments),
    });
    const refresh = async () => resourceWith(trackAt(`${site.origin}/fresh.m3u8`, { delivery: 'hls' }));
    expect(await readAll((await site.open({ refresh })).readAll())).toBe('broken 502');
  });

  it('destroying the stream aborts its requests', async () => {
    const slow = createFaultHandler({ bytes: init, fault: { name: 'throttle', bytesPerSecond: 100 } });
    site.serve({ '/index.m3u8': () => playlist(listed()), ...parts([slow]) });
    const stream = (await site.open()).readAll();
    await once(stream, 'readable');
    stream.destroy();
    await expect.poll(() => slow.seen.map(({ state }) => state)).toEqual(['left']);

    (await site.open()).close();
    await expect.poll(() => slow.seen[1]?.state).toBe('left');
  });
});

describe('damaged segments', async () => {
  const folder = await madeBy([
    ...LISTS,
    [...SOUND, '-c:a', 'aac', '-f', 'segment', '-segment_format', 'adts', '-segment_time', '4', 'adts%d.ts'],
    [...SOUND, '-c:a', 'libmp3lame', '-f', 'segment', '-segment_format', 'mp3', '-segment_time', '4', 'mp3%d.ts'],
    [...SOUND, '-c:a', 'ac3', '-f', 'segment', '-segment_format', 'ac3', '-segment_time', '4', 'ac3%d.ts'],
  ]);
  const read = (name: string) => readFile(join(folder, name));
  const lines = [0, 1, 2, 3, 4].flatMap((n) => ['#EXTINF:4.000,', `${n}.ts`]);
  const damages: Record<string, (bytes: Buffer) => Buffer> = {
    'a page': () => Buffer.from(`<!DOCTYPE html><title>Blocked</title>${'<p>No.</p>'.repeat(2000)}`),
    'a short page': () => Buffer.from('<html>No.</html>'),
    'random bytes': ({ length }) => bytesOf(length, 3),
    zeros: ({ length }) => Buffer.alloc(length),
    // Between two packets of MPEG-TS.
    'its first half': (bytes) => bytes.subarray(0, Math.floor(bytes.length / 2 / 188) * 188),
    nothing: () => Buffer.alloc(0),
  };
  const cases = ['ts', 'fmp4', 'adts', 'mp3', 'ac3', 'encrypted ts'].flatMap((kind) =>
    Object.keys(damages).flatMap((damage) => [0, 2, 4].map((place) => [kind, damage, place] as const)),
  );
  const serve = async (kind: string, change: (bytes: Buffer, index: number) => SiteFile) => {
    const isEncrypted = kind.startsWith('encrypted');
    const name = kind.replace('encrypted ', '');
    const plain = await Promise.all([0, 1, 2, 3, 4].map((index) => read(`${name}${index}.ts`)));
    const files = plain.map((bytes) => (isEncrypted ? encryptAes128(bytes, KEY) : bytes)).map(change);
    const first = name === 'fmp4' ? [await read('init.mp4')] : [];
    const map = name === 'fmp4' ? ['#EXT-X-MAP:URI="init.mp4"'] : [];
    site.serve({
      '/index.m3u8': () => playlist([...(isEncrypted ? [KEY_LINE] : []), ...map, ...lines]),
      '/key': KEY,
      ...(first[0] && { '/init.mp4': first[0] }),
      ...Object.fromEntries(files.map((file, index) => [`/${index}.ts`, file])),
    });
    return sha256(Buffer.concat([...first, ...plain]));
  };
  const outcome = () =>
    site.open({ limits: { maxAttempts: 2 } }).then(
      (source) => readAll(source.readAll()),
      (error: unknown) => `refused ${toStreamProblem(error).details.status}`,
    );

  it.each(cases)('of %s: %s in place %d is never a complete response', async (kind, damage, place) => {
    await serve(kind, (bytes, index) => (index === place ? (damages[damage]?.(bytes) ?? bytes) : bytes));
    expect(await outcome()).toMatch(/^(refused|broken) 502$/);
  });

  it.each(['ts', 'fmp4', 'adts', 'mp3', 'ac3', 'encrypted ts'])('of %s are requested again', async (kind) => {
    const page = Buffer.from('<html>Try again</html>');
    const whole = await serve(kind, (bytes) => {
      let isFirst = true;
      const handlers = [page, bytes].map((body) => createFaultHandler({ bytes: body }));
      return (...args: Parameters<Handler>) => {
        handlers[Number(!isFirst)]?.(...args);
        isFirst = false;
      };
    });
    expect(await outcome()).toBe(whole);
  });

  const inChunks =
    (bytes: Buffer, chunkBytes: number): Handler =>
    async (_, response) => {
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        await new Promise<void>((written) => response.write(bytes.subarray(at, at + chunkBytes), () => written()));
        await setImmediate();
      }
      response.end();
    };
  const mdatOf = (bytes: Buffer) => bytes.indexOf('mdat', 0, 'latin1') - 4;
  it.each<[string, string, (bytes: Buffer, index: number) => Buffer]>([
    ['ts', 'behind ID3', (bytes) => Buffer.concat([ID3, bytes])],
    ['ts', 'with zeros behind it', (bytes) => Buffer.concat([bytes, Buffer.alloc(100)])],
    ['ts', 'with noise in between', (b) => Buffer.concat([b.subarray(0, 1880), bytesOf(77), b.subarray(1880)])],
    ['adts', 'behind ID3', (bytes) => Buffer.concat([ID3, bytes])],
    ['mp3', 'behind ID3', (bytes) => Buffer.concat([ID3, bytes])],
    [
      'fmp4',
      'with boxes in front',
      (bytes) => Buffer.concat([...['styp', 'prft', 'emsg', 'free'].map((type) => box(type, 8)), bytes]),
    ],
    [
      'fmp4',
      'with a 64-bit size',
      (bytes) =>
        Buffer.concat([
          bytes.subarray(0, mdatOf(bytes)),
          largeBox('mdat', bytes.length - mdatOf(bytes) + 8, bytes.subarray(mdatOf(bytes) + 8)),
        ]),
    ],
    [
      'fmp4',
      'that extends to its end',
      (bytes, index) =>
        index < 4
          ? bytes
          : Buffer.concat([bytes.subarray(0, mdatOf(bytes)), box('mdat', 0, bytes.subarray(mdatOf(bytes) + 8))]),
    ],
  ])('takes %s %s for whole', async (kind, _, change) => {
    const sent: Buffer[] = [];
    await serve(kind, (bytes, index) => {
      const changed = change(bytes, index);
      sent.push(changed);
      return changed;
    });
    const first = kind === 'fmp4' ? [await read('init.mp4')] : [];
    expect(await outcome()).toBe(sha256(Buffer.concat([...first, ...sent])));
  });

  it.each([
    ['ts', 1],
    ['encrypted ts', 1],
    // Fewer bytes than tell MPEG-TS.
    ['ts', 100],
  ])('leaves out a picture in front of %s', async (kind, chunks) => {
    const isEncrypted = kind.startsWith('encrypted');
    const plain = await Promise.all([0, 1, 2, 3, 4].map((index) => read(`ts${index}.ts`)));
    await serve(kind, (_, index) => {
      const bytes = Buffer.concat([PNG, plain[index] ?? PNG]);
      const file = isEncrypted ? encryptAes128(bytes, KEY) : bytes;
      return chunks === 1 ? file : inChunks(file, Math.ceil(file.length / chunks));
    });
    expect(await outcome()).toBe(sha256(Buffer.concat(plain)));
  });
});

describe('HLS source of a probed host', () => {
  const probed = { probedHosts: ['127.0.0.1'] };
  /** Two minutes in four segments, the third and fourth of which are after the first minute. */
  const listOf = (folder: string, seconds = 30) =>
    playlist([0, 1, 2, 3].flatMap((index) => [`#EXTINF:${seconds}.0,`, `${folder}${index}.ts`]));
  const refusing = (bytes: Buffer) => createFaultHandler({ bytes, fault: { name: 'status', status: 403, times: 99 } });
  const limited = segments.map((bytes, index) => (index < 2 ? bytes : refusing(bytes)));
  const fresh = () => vi.fn(async () => resourceWith(trackAt(`${site.origin}/fresh.m3u8`, { delivery: 'hls' })));
  const inFolder = (folder: string, files: readonly (Buffer | Handler)[]) =>
    Object.fromEntries(files.map((file, index) => [`/${folder}${index}.ts`, file]));

  it('opens with a fresh list when a segment after the first minute is refused', async () => {
    site.serve({
      '/index.m3u8': () => listOf(''),
      '/fresh.m3u8': () => listOf('fresh/'),
      ...parts(limited),
      ...inFolder('fresh/', segments),
    });
    const refresh = fresh();
    const source = await site.open({ ...probed, refresh });
    expect(refresh).toHaveBeenCalledTimes(1);
    expect(await readAll(source.readAll())).toBe(whole);
  });

  it('does not open when that is refused too', async () => {
    site.serve({
      '/index.m3u8': () => listOf(''),
      '/fresh.m3u8': () => listOf('fresh/'),
      ...parts(limited),
      ...inFolder('fresh/', limited),
    });
    const refresh = fresh();
    expect(await statusOf(site.open({ ...probed, refresh }))).toBe(502);
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it('requests no later segment of a list that is shorter than a minute', async () => {
    const files = segments.map((bytes) => createFaultHandler({ bytes }));
    site.serve({ '/index.m3u8': () => listOf('', 15), ...parts(files) });
    expect(await readAll((await site.open(probed)).readAll())).toBe(whole);
    expect(files.flatMap(({ seen }) => seen.map(({ range }) => range))).toEqual(files.map(() => undefined));
  });
});
