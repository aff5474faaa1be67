import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type CompletenessCheck,
  createMediaCheck,
  createPlaylistCheck,
  type MediaCheckOptions,
} from '../../../packages/source/src/completeness.ts';
import { madeBy } from '../../origin/media.ts';
import { box, ID3, largeBox, SEGMENTS } from './segmented-fixture.ts';
import { bytesOf, encryptAes128 } from './upstream.ts';

/** The result of a check of bytes in chunks of a length. */
function heard(audit: CompletenessCheck, bytes: Buffer, pieces: number): string | undefined {
  for (let at = 0; at < bytes.length; at += pieces) audit.update(bytes.subarray(at, at + pieces));
  return audit.problem();
}
const missingOf = (bytes: Buffer, options: MediaCheckOptions = {}) => {
  const verdicts = [1000, bytes.length || 1, 97].map((pieces) => heard(createMediaCheck(options), bytes, pieces));
  // How bytes arrive changes nothing.
  expect(new Set(verdicts).size).toBe(1);
  return verdicts[0];
};

const copied = (from: string, ...more: readonly string[]) => ['-i', from, '-c', 'copy', ...more];
const fragmented = (from: string, flags: string, micros: string, name: string) =>
  copied(from, '-bsf:a', 'aac_adtstoasc', '-movflags', flags, '-frag_duration', micros, name);
/** Times of MPEG-TS begin again two seconds after the start. */
const WRAP = ['-output_ts_offset', String(2 ** 33 / 90_000 - 2), '-muxdelay', '0'];
const folder = await madeBy([
  ...SEGMENTS,
  copied('adts0.ts', ...WRAP, 'wrap.ts'),
  fragmented('adts0.ts', 'empty_moov+default_base_moof+global_sidx', '500000', 'indexed.mp4'),
  fragmented('ts0.ts', 'empty_moov+default_base_moof', '1000000', 'runs.mp4'),
]);
const read = (name: string) => readFileSync(join(folder, name));

/** Lengths at which a file may be cut: all over it, and one byte off each end. */
const cuts = (bytes: Buffer) => [1, 100, ...Array.from({ length: 23 }, (_, n) => n * (bytes.length / 23)), -1];
const cut = (bytes: Buffer, at: number) => bytes.subarray(0, Math.floor((at + bytes.length) % bytes.length));

describe('createMediaCheck', () => {
  it('detects any truncation of MPEG-TS within a packet, and between packets if a quarter is missing', () => {
    const bytes = read('ts0.ts');
    expect(missingOf(bytes, { seconds: 4 })).toBeUndefined();
    expect(missingOf(bytes, { seconds: 5 })).toBeUndefined();
    for (const at of cuts(bytes)) {
      const part = cut(bytes, at);
      if (part.length % 188 !== 0) expect(missingOf(part, { seconds: 4 }), `at ${at}`).toBe('ends within a frame');
    }
    for (const part of [0.1, 0.3, 0.5, 0.65]) {
      const packets = Math.floor((bytes.length * part) / 188);
      expect(missingOf(bytes.subarray(0, packets * 188), { seconds: 4 }), `${part}`).toMatch(/^[0-3]\.\d s/);
    }
  });

  it('measures the duration of MPEG-TS across a wrap of its timestamps', () => {
    expect(missingOf(read('wrap.ts'), { seconds: 4 })).toBeUndefined();
    expect(missingOf(read('wrap.ts'), { seconds: 9 })).toBe('4.0 s of 9.0 s');
  });

  it.each(['init.mp4', ...[0, 1, 2, 3, 4].map((index) => `fmp4${index}.ts`)])(
    'detects any truncation of fragmented MP4: %s',
    (name) => {
      const bytes = read(name);
      expect(missingOf(bytes)).toBeUndefined();
      for (const at of cuts(bytes)) expect(missingOf(cut(bytes, at)), `at ${at}`).toMatch(/./);
    },
  );

  it('detects missing fragments that an index lists', () => {
    const bytes = read('indexed.mp4');
    expect(missingOf(bytes)).toBeUndefined();
    const starts = [...bytes.toString('latin1').matchAll(/moof/g)].map(({ index }) => index - 4);
    expect(starts.length).toBeGreaterThan(4);
    for (const start of starts.slice(1)) {
      expect(missingOf(bytes.subarray(0, start)), `at ${start}`).toMatch(/^\d+ bytes of \d+ in its index$/);
    }
    // What holds no media lists what others hold.
    expect(missingOf(bytes.subarray(0, starts[0]))).toBeUndefined();
  });

  it('ignores a malformed index', () => {
    const boxOf = (type: string, body: Buffer) => box(type, body.length + 8, body);
    const index = (version: number, count: number, ...sizes: number[]) => {
      const body = Buffer.alloc((version === 1 ? 32 : 24) + sizes.length * 12);
      body[0] = version;
      body.writeUInt16BE(count, version === 1 ? 30 : 22);
      sizes.forEach((size, at) => void body.writeUInt32BE(size, body.length - (sizes.length - at) * 12));
      return boxOf('sidx', body);
    };
    const media = Buffer.concat([boxOf('moof', Buffer.alloc(50)), boxOf('mdat', Buffer.alloc(100))]);
    for (const version of [0, 1]) {
      expect(missingOf(Buffer.concat([index(version, 2, 100, 66), media]))).toBeUndefined();
      expect(missingOf(Buffer.concat([index(version, 2, 100, 67), media]))).toMatch(/ in its index$/);
      // The highest bit is no part of a size.
      expect(missingOf(Buffer.concat([index(version, 1, 0x800000a6), media]))).toBeUndefined();
      expect(missingOf(Buffer.concat([index(version, 3, 100, 67), media]))).toBeUndefined();
    }
    expect(missingOf(Buffer.concat([boxOf('sidx', Buffer.alloc(3)), media]))).toBeUndefined();
    expect(missingOf(Buffer.concat([boxOf('sidx', Buffer.alloc(200 * 1024, 0xff)), media]))).toBeUndefined();
  });

  it('detects fragments that describe fewer samples than they have, or less time than is stated', () => {
    const bytes = read('runs.mp4');
    expect(missingOf(bytes, { seconds: 5 })).toBeUndefined();
    expect(missingOf(bytes, { seconds: 8 })).toBe('4.0 s of 8.0 s');
    for (const options of [{ isLast: true }, { isNominal: true }])
      expect(missingOf(bytes, { seconds: 8, ...options })).toBeUndefined();
    const media = bytes.subarray(bytes.indexOf('moof') - 4);
    const init = createMediaCheck();
    heard(init, bytes.subarray(0, -media.length), 1000);
    expect(missingOf(media, { seconds: 8 })).toBeUndefined();
    expect(missingOf(media, { seconds: 8, tracks: () => init.tracks })).toBe('4.0 s of 8.0 s');
    const halved = Buffer.from(media);
    for (let at = media.indexOf('trun'); at >= 0; at = media.indexOf('trun', at + 4))
      halved.writeUInt32BE(media.readUInt32BE(at + 8) >> 1, at + 8);
    expect(missingOf(halved)).toMatch(/^samples of \d+ bytes in \d+$/);
  });

  it('detects a fragment without its mdat', () => {
    const bytes = read('runs.mp4');
    expect(missingOf(bytes.subarray(0, bytes.lastIndexOf('mdat') - 4))).toBe('last fragment has no mdat');
  });

  it('accepts a box that extends to the end, and checks one with a 64-bit size', () => {
    expect(missingOf(box('mdat', 0, Buffer.alloc(50)))).toBeUndefined();
    expect(missingOf(largeBox('mdat', 116, Buffer.alloc(100)))).toBeUndefined();
    expect(missingOf(largeBox('mdat', 116, Buffer.alloc(99)))).toBe('ends within a frame');
    expect(missingOf(box('mdat', 4, Buffer.alloc(99)))).toBeUndefined();
  });

  it('detects any truncation of packed AAC, also between frames', () => {
    const bytes = Buffer.concat([ID3, read('adts0.ts')]);
    expect(missingOf(bytes, { seconds: 4 })).toBeUndefined();
    for (const at of cuts(bytes).filter((at) => at !== 0))
      if (Math.abs(at) > 60) expect(missingOf(cut(bytes, at), { seconds: 4 }), `at ${at}`).toMatch(/./);
    const frames = bytes.subarray(0, bytes.indexOf(bytes.subarray(30, 33), bytes.length / 2));
    expect(missingOf(frames, { seconds: 4 })).toMatch(/^[12]\.\d s of 4\.0 s$/);
  });

  it('checks the plaintext of AES-128 segments', () => {
    const [key, iv, plain] = [bytesOf(16, 3), bytesOf(16, 4), read('ts0.ts')];
    const options = { seconds: 4, cipher: { key, iv } };
    const encrypt = (bytes: Buffer) => encryptAes128(bytes, key, iv);
    const bytes = encrypt(plain);
    expect(missingOf(bytes, options)).toBeUndefined();
    for (const at of cuts(bytes)) expect(missingOf(cut(bytes, at), options), `at ${at}`).toMatch(/./);
    expect(missingOf(encrypt(plain.subarray(0, -5)), options)).toBe('ends within a frame');
  });

  it.each([
    ['noise', bytesOf(5000)],
    ['a text', Buffer.from('WEBVTT\n\n00:00.000 --> 00:01.000\nHello'.repeat(30))],
    ['MPEG-TS that falls out of step', Buffer.concat([Buffer.alloc(1880, 0x47), Buffer.alloc(77, 0x21)])],
  ])('accepts %s', (_, bytes) => expect(missingOf(bytes, { seconds: 9 })).toBeUndefined());

  it('rejects empty and tiny bodies', () => {
    expect(missingOf(Buffer.from([1]))).toBe('ends within a frame');
    expect(missingOf(Buffer.alloc(0))).toBe('empty');
    expect(missingOf(Buffer.alloc(0), { cipher: { key: bytesOf(16), iv: bytesOf(16) } })).toBe('empty');
  });
});

describe('createPlaylistCheck', () => {
  const VOD = '#EXT-X-PLAYLIST-TYPE:VOD';
  it.each([
    [['#EXTINF:4,', '0.ts', '#EXT-X-ENDLIST'], undefined],
    [[VOD, '#EXTINF:4,', '0.ts', '#EXT-X-ENDLIST', ''], undefined],
    [[VOD, '#EXTINF:4,', '0.ts'], 'no EXT-X-ENDLIST'],
    [['#EXTINF:4,', '0.ts', '#EXT-X-EN'], 'ends within an entry'],
    [['#EXTINF:4,', '0.ts', '#EXTINF:4,'], 'ends within an entry'],
    [['#EXTINF:4,', '#EXT-X-BYTERANGE:5@0'], 'ends within an entry'],
    [['#EXT-X-STREAM-INF:BANDWIDTH=1'], 'ends within an entry'],
    [['#EXTINF:4,', '0.ts'], undefined],
    [['#EXT-X-STREAM-INF:BANDWIDTH=1', 'a.m3u8'], undefined],
  ])('checks %j', (lines, missing) => {
    expect(heard(createPlaylistCheck(), Buffer.from(['#EXTM3U', ...lines].join('\n')), 7)).toBe(missing);
  });
});
