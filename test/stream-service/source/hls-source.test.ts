import type { SegmentOverrides } from '@reelay/source/track';
import { describe, expect, it } from 'vitest';
import { createFaultHandler } from '../../origin/faults.ts';
import {
  boxOf,
  init,
  KEY,
  KEY_LINE,
  listed,
  parts,
  playlist,
  segments,
  useSegmentedSite,
  whole,
} from './segmented-fixture.ts';
import { encryptAes128, type Handler, readAll, sha256, statusOf } from './upstream.ts';

const site = useSegmentedSite();

describe('HLS source', () => {
  it.each([
    ['4.0', 16],
    ['4', undefined],
  ])('of segments of %s s lasts %s s: whole seconds may be rounded', async (said, seconds) => {
    const lines = listed().map((line) => line.replace('4.0', said));
    site.serveList(lines);
    const source = await site.open();
    expect(source.durationSeconds).toBe(seconds);
    expect(await readAll(source.readAll())).toBe(whole);
  });

  it('sends each initialization section where it changes', async () => {
    const lines = ['#EXT-X-MAP:URI="init.mp4"', ...listed(0, 2), '#EXT-X-DISCONTINUITY', '#EXT-X-MAP:URI="b.mp4"'];
    const [a, b, c, d] = segments as [Buffer, Buffer, Buffer, Buffer];
    const other = boxOf(700, 77);
    site.serveList([...lines, ...listed(2, 4)], { '/init.mp4': init, '/b.mp4': other, ...parts(segments) });
    expect(await site.read()).toBe(sha256(Buffer.concat([init, a, b, other, c, d])));
  });

  it('reads byte ranges, with and without an offset', async () => {
    const file = Buffer.concat([init, ...segments]);
    const lines = [
      `#EXT-X-MAP:URI="all.mp4",BYTERANGE="${init.length}@0"`,
      ...segments.flatMap(({ length }, index) => [
        '#EXTINF:4,',
        `#EXT-X-BYTERANGE:${length}${index === 0 ? `@${init.length}` : ''}`,
        'all.mp4',
      ]),
    ];
    const asked = site.serveList(lines, { '/all.mp4': file });
    expect(await site.read()).toBe(sha256(file));
    expect(asked).toHaveLength(6);
  });

  it('decrypts AES-128 with an explicit IV and with the sequence number', async () => {
    const iv = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
    const numbered = (number: number) => {
      const iv = Buffer.alloc(16);
      iv.writeUInt32BE(number, 12);
      return iv;
    };
    const encrypt = (bytes: Buffer, iv: Buffer) => encryptAes128(bytes, KEY, iv);
    const [a, b, c, d] = segments as [Buffer, Buffer, Buffer, Buffer];
    const lines = [
      ...['#EXT-X-MEDIA-SEQUENCE:7', '#EXT-X-KEY:METHOD=AES-128,URI="key"', ...listed(0, 2)],
      ...[`#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x${iv.toString('hex')}`, ...listed(2, 3)],
      ...['#EXT-X-KEY:METHOD=NONE', ...listed(3, 4)],
    ];
    const coded = [encrypt(a, numbered(7)), encrypt(b, numbered(8)), encrypt(c, iv), d];
    const asked = site.serveList(lines, { '/key': KEY, ...parts(coded) });
    expect(await site.read()).toBe(whole);
    expect(asked.filter((path) => path === '/key')).toHaveLength(1);
  });

  it('requests segments and keys as the track says in place of the playlist', async () => {
    const iv = 'a0a1a2a3a4a5a6a7a8a9aaabacadaeaf';
    const encrypted = segments.map((bytes) => encryptAes128(bytes, KEY, Buffer.from(iv, 'hex')));
    const files = Object.fromEntries(encrypted.map((bytes, index) => [`/${index}.ts?old=1&token=new`, bytes]));
    const lines = listed().map((line) => line.replace('.ts', '.ts?token=old&old=1'));
    const keys = { '/key?a=1&token=new': KEY, '/key?a=1&k=2': KEY, '/other': KEY };
    const asked = site.serveList(['#EXT-X-KEY:METHOD=AES-128,URI="key?a=1"', ...lines], { ...keys, ...files });
    const segmentQuery = 'token=new';
    const cases: [SegmentOverrides, string | undefined][] = [
      [{ segmentQuery, iv }, '/key?a=1&token=new'],
      [{ segmentQuery, keyQuery: 'k=2', iv }, '/key?a=1&k=2'],
      [{ segmentQuery, keyUrl: `${site.origin}/other`, iv }, '/other'],
      [{ segmentQuery, key: KEY.toString('hex'), iv }, undefined],
    ];
    for (const [overrides, keyPath] of cases) {
      asked.length = 0;
      expect(await site.read({}, { overrides })).toBe(whole);
      expect(asked.filter((path) => /key|other/.test(path))).toEqual(keyPath ? [keyPath] : []);
    }
  });

  it('skips gaps without requesting them', async () => {
    const gap = (name: string) => ['#EXT-X-GAP', '#EXTINF:4,', name];
    const lines = [...gap('x.ts'), ...listed(0, 2), ...gap('y.ts'), ...gap('2.ts'), ...listed(3, 4), ...gap('z.ts')];
    const asked = site.serveList(lines);
    const source = await site.open();
    expect([source.durationSeconds, source.gapSeconds]).toEqual([20, 8]);
    const [a = init, b = init, , d = init] = segments;
    expect(await readAll(source.readAll())).toBe(sha256(Buffer.concat([a, b, d])));
    expect(new Set(asked)).toEqual(new Set(['/index.m3u8', '/0.ts', '/1.ts', '/3.ts']));
  });

  it('fails to open a playlist of gaps only', async () => {
    site.serveList(['#EXT-X-GAP', ...listed(0, 1)]);
    expect(await statusOf(site.open())).toBe(502);
  });

  it('reads by bounded ranges when the source requires a Range header', async () => {
    const strict = (bytes: Buffer) => createFaultHandler({ bytes, fault: { name: 'strict', largest: 64 * 1024 } });
    const last = encryptAes128(segments[3] ?? init, KEY);
    const files = [...segments.slice(0, 3), last].map(strict);
    const list = strict(
      Buffer.from(playlist(['#EXT-X-MAP:URI="init.mp4"', ...listed(0, 3), KEY_LINE, ...listed(3, 4)])),
    );
    site.serve({ '/index.m3u8': list, '/init.mp4': strict(init), '/key': strict(KEY), ...parts(files) });
    const limits = { chunkBytes: 256 * 1024, minChunkBytes: 32 * 1024 };
    expect(await site.read({ limits })).toBe(sha256(Buffer.concat([init, ...segments])));
    // Found out once, by the playlist.
    expect(list.seen.map(({ range }) => range)).toEqual([undefined, 'bytes=0-32767']);
    const ranges = files.flatMap(({ seen }) => seen.map(({ range = 'none' }) => range));
    expect(ranges.filter((range) => !/^bytes=\d+-\d+$/.test(range))).toEqual([]);
  });

  it.each([400, 403, 405, 416])('retries with a Range header after %d', async (status) => {
    const files = segments.map((bytes) => {
      const good = createFaultHandler({ bytes });
      return (...[request, response]: Parameters<Handler>) =>
        request.headers.range ? good(request, response) : void response.writeHead(status).end();
    });
    site.serveList(listed(), parts(files));
    expect(await site.read()).toBe(whole);
  });

  it('selects the best variant of a master playlist, relative to its final URL', async () => {
    const master = ['#EXTM3U', '#EXT-X-STREAM-INF:BANDWIDTH=1', 'no.m3u8', '#EXT-X-STREAM-INF:BANDWIDTH=9', 'a/b.m3u8'];
    site.serveList(() => master.join('\n'), { '/a/b.m3u8': () => playlist(listed()), ...parts(segments, '/a') });
    expect(await site.read()).toBe(whole);
  });
});
