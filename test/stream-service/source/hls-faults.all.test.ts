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
  listed,
  PNG,
  parts,
  playlist,
  SEGMENTS,
  same,
  segments,
  useSegmentedSite,
  whole,
} from './segmented-fixture.ts';
import { bytesOf, encryptAes128, type Handler, readAll, resourceWith, sha256, statusOf, trackAt } from './upstream.ts';

const site = useSegmentedSite();

describe('HLS source faults', () => {
  it.each<[string, () => string, number]>([
    ['is a page', () => '<html>', 502],
    ['is empty', () => '', 502],
    ['lists nothing', () => playlist([]), 502],
    ['is protected', () => playlist(['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://x"', ...listed()]), 415],
    ['names a key that is a page', () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="1.ts"', ...listed()]), 502],
    ['names a key that is too short', () => playlist(['#EXT-X-KEY:METHOD=AES-128,URI="short"', ...listed()]), 502],
    ['names a private address', () => playlist(['#EXTINF:4,', 'http://169.254.169.254/x']), 404],
    ['names something that is not http', () => playlist(['#EXTINF:4,', 'file:///etc/passwd']), 404],
    ['is a master of itself', () => '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nindex.m3u8', 502],
    [
      'names times beyond 2^60',
      () => playlist(['#EXT-X-MEDIA-SEQUENCE:1152921504606846976', '#EXTINF:1152921504606846976,', '/none']),
      404,
    ],
    [
      'names a range of 2^53 bytes',
      () => playlist(['#EXTINF:4,', '#EXT-X-BYTERANGE:9007199254740991@9007199254740991', '0.ts']),
      502,
    ],
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
    site.serveList(write, { '/short': KEY.subarray(1), ...parts(segments) });
    const limits = { maxSegments: 200, maxPlaylistBytes: 100_000 };
    expect(await statusOf(site.open({ refresh: same, limits }))).toBe(status);
  });

  it.each<[string, Fault, { etag?: null; fault?: Fault }, requests: number]>([
    ['whose connection drops', { name: 'drop', after: 100_000, times: 99 }, {}, 3],
    [
      'that says no length or validator',
      { name: 'unframed', after: 100_000, times: 1 },
      { etag: null, fault: { name: 'unframed', after: 0, times: 0 } },
      2,
    ],
  ])('a segment %s fails the stream where it goes on with other bytes', async (_, fault, more, requests) => {
    const [bytes = init] = segments;
    const handlers = [
      createFaultHandler({ bytes, ...more, fault }),
      createFaultHandler({ bytes: boxOf(bytes.length, 50), ...more }),
    ];
    let count = 0;
    const changing: Handler = (...args) => handlers[Math.min(count++, 1)]?.(...args);
    site.serveList(listed(), parts(segments.map((plain, index) => (index === 2 ? changing : plain))));
    expect(await site.read({ refresh: same })).toBe('broken 502');
    expect(count).toBe(requests);
  });

  it('invalid padding fails the stream', async () => {
    const cipher = createCipheriv('aes-128-cbc', KEY, Buffer.alloc(16)).setAutoPadding(false);
    const coded = [cipher.update(boxOf(160_000, 7)), ...segments.slice(1)];
    site.serveList(['#EXT-X-KEY:METHOD=AES-128,URI="key"', ...listed()], { '/key': KEY, ...parts(coded) });
    expect(await site.read()).toMatch(/^broken/);
  });

  it('a renewed playlist with other media fails the stream', async () => {
    site.serveList([...listed(0, 2), '#EXTINF:4,', 'gone.ts'], {
      '/fresh.m3u8': () => playlist(listed()),
      ...parts(segments),
    });
    const refresh = async () => resourceWith(trackAt(`${site.origin}/fresh.m3u8`, { delivery: 'hls' }));
    expect(await site.read({ refresh })).toBe('broken 502');
  });

  it('destroying the stream aborts its requests', async () => {
    const slow = createFaultHandler({ bytes: init, fault: { name: 'throttle', bytesPerSecond: 100 } });
    site.serveList(listed(), parts([slow]));
    const stream = (await site.open()).readAll();
    await once(stream, 'readable');
    stream.destroy();
    await expect.poll(() => slow.seen.map(({ state }) => state)).toEqual(['left']);

    (await site.open()).close();
    await expect.poll(() => slow.seen[1]?.state).toBe('left');
  });
});

describe('damaged segments', async () => {
  const folder = await madeBy(SEGMENTS);
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
  const serve = async (kind: string, change: (bytes: Buffer, index: number) => Buffer | Handler) => {
    const isEncrypted = kind.startsWith('encrypted');
    const name = kind.replace('encrypted ', '');
    const plain = await Promise.all([0, 1, 2, 3, 4].map((index) => read(`${name}${index}.ts`)));
    const files = plain.map((bytes) => (isEncrypted ? encryptAes128(bytes, KEY) : bytes)).map(change);
    const first = name === 'fmp4' ? [await read('init.mp4')] : [];
    const map = name === 'fmp4' ? ['#EXT-X-MAP:URI="init.mp4"'] : [];
    site.serveList([...(isEncrypted ? [KEY_LINE] : []), ...map, ...lines], {
      '/key': KEY,
      ...(first[0] && { '/init.mp4': first[0] }),
      ...parts(files),
    });
    return sha256(Buffer.concat([...first, ...plain]));
  };
  const outcome = () =>
    site
      .read({ limits: { maxAttempts: 2 } })
      .catch((error: unknown) => `refused ${toStreamProblem(error).details.status}`);

  it.each(cases)('of %s: %s in place %d is never a complete response', async (kind, damage, place) => {
    await serve(kind, (bytes, index) => (index === place ? (damages[damage]?.(bytes) ?? bytes) : bytes));
    expect(await outcome()).toMatch(/^(refused|broken) 502$/);
  });

  it.each(['ts', 'fmp4', 'adts', 'mp3', 'ac3', 'encrypted ts'])('of %s are requested again', async (kind) => {
    const page = Buffer.from('<html>Try again</html>');
    const whole = await serve(kind, (bytes) => {
      const answers = [page];
      return (...args) => createFaultHandler({ bytes: answers.pop() ?? bytes })(...args);
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
  it.each<[string, string, (bytes: Buffer) => Buffer]>([
    ['ts', 'behind ID3', (bytes) => Buffer.concat([ID3, bytes])],
    ['ts', 'with zeros behind it', (bytes) => Buffer.concat([bytes, Buffer.alloc(100)])],
    ['adts', 'behind ID3', (bytes) => Buffer.concat([ID3, bytes])],
    [
      'fmp4',
      'with boxes in front',
      (bytes) => Buffer.concat([...['styp', 'prft', 'emsg', 'free'].map((type) => box(type, 8)), bytes]),
    ],
  ])('takes %s %s for whole', async (kind, _, change) => {
    const sent: Buffer[] = [];
    await serve(kind, (bytes) => {
      const changed = change(bytes);
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

  it.each([
    ['opens with a fresh list', segments, whole],
    ['does not open', limited, 502],
  ])('%s when a segment after the first minute is refused', async (_, freshSegments, outcome) => {
    const refresh = vi.fn(async () => resourceWith(trackAt(`${site.origin}/fresh.m3u8`, { delivery: 'hls' })));
    site.serveList(() => listOf(''), {
      '/fresh.m3u8': () => listOf('fresh/'),
      ...parts(limited),
      ...parts(freshSegments, '/fresh'),
    });
    const opening = site.open({ ...probed, refresh });
    expect(outcome === whole ? await readAll((await opening).readAll()) : await statusOf(opening)).toBe(outcome);
    expect(refresh).toHaveBeenCalledTimes(1);
  });

  it('requests no later segment of a list that is shorter than a minute', async () => {
    const files = segments.map((bytes) => createFaultHandler({ bytes }));
    site.serveList(() => listOf('', 15), parts(files));
    expect(await site.read(probed)).toBe(whole);
    expect(files.flatMap(({ seen }) => seen.map(({ range }) => range))).toEqual(files.map(() => undefined));
  });
});
