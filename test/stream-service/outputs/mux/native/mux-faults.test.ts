import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { UnsupportedMp4 } from '../../../../../core/media/isobmff/boxes.ts';
import { muxNatively } from '../../../../../stream-service/outputs/mux/native/native-muxer.ts';
import type { FileSource } from '../../../../../stream-service/source/source.ts';
import { ensureMedia, madeFile } from '../../../../origin/media.ts';
import { until } from '../../../fixture.ts';
import { fileSource } from '../../encode/mp3/fixture.ts';

const files = { video: Buffer.alloc(0), audio: Buffer.alloc(0), fragmented: Buffer.alloc(0), webm: Buffer.alloc(0) };

beforeAll(async () => {
  const media = await ensureMedia();
  files.video = await readFile(join(media, 'clip-tail.mp4'));
  files.audio = await readFile(join(media, 'tone.m4a'));
  files.webm = await readFile(join(media, 'clip.webm'));
  const fragmented = ['-i', 'clip.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+default_base_moof'];
  files.fragmented = await readFile(await madeFile('fragmented.mp4', fragmented, media));
});

const mux = (video: FileSource, audio: FileSource = fileSource(files.audio), signal = new AbortController().signal) =>
  muxNatively(
    [
      { source: video, kind: 'vide', durationSeconds: 6 },
      { source: audio, kind: 'soun', durationSeconds: 6 },
    ],
    { signal },
  );

const isRefused = (error: Error) => error instanceof UnsupportedMp4 || error.message.startsWith('The file ends before');

type Change = (bytes: Buffer, at: (type: string, nth?: number) => number) => Buffer | undefined;

/** A copy of a file with something changed; `at` is where the content of a box begins. */
function changed(bytes: Buffer, change: Change): FileSource {
  const copy = Buffer.from(bytes);
  const at = (type: string, nth = 1) => {
    let found = -1;
    for (let count = 0; count < nth; count += 1) found = copy.indexOf(type, found + 1, 'latin1');
    expect(found).toBeGreaterThan(0);
    return found + 4;
  };
  return fileSource(change(copy, at) ?? copy);
}

describe('muxNatively with a malformed or unsupported header', () => {
  const cases: readonly (readonly [string, Change])[] = [
    ['is cut', (bytes) => bytes.subarray(0, bytes.length - 100)],
    ['is another format', () => files.webm],
    ['is no media', () => Buffer.from('no media at all '.repeat(100))],
    ['is one byte', () => Buffer.alloc(1)],
    ['has a box shorter than its header', (bytes, at) => void bytes.writeUInt32BE(4, at('mdat') - 8)],
    ['has a box that never ends', (bytes, at) => void bytes.writeUInt32BE(0, at('mdat') - 8)],
    ['has a box longer than the file', (bytes, at) => void bytes.writeUInt32BE(0xffff_ffff, at('moov') - 8)],
    ['has no time scale', (bytes, at) => void bytes.writeUInt32BE(0, at('mdhd') + 12)],
    ['counts more sizes than there are', (bytes, at) => void bytes.writeUInt32BE(0x7fff_ffff, at('stsz') + 8)],
    [
      'counts endless samples of one size',
      (bytes, at) => void bytes.write('\0\0\0\x01\xff\xff\xff\xff', at('stsz') + 4, 'latin1'),
    ],
    ['counts more durations than there are', (bytes, at) => void bytes.writeUInt32BE(0xffff_ffff, at('stts') + 4)],
    ['has durations for fewer samples', (bytes, at) => void bytes.writeUInt32BE(1, at('stts') + 8)],
    ['counts more chunks than there are', (bytes, at) => void bytes.writeUInt32BE(0xffff_ffff, at('stco') + 4)],
    ['has chunks out of order', (bytes, at) => void bytes.writeUInt32BE(5, at('stsc') + 8)],
    ['has chunks without samples', (bytes, at) => void bytes.writeUInt32BE(0, at('stsc') + 12)],
    ['has encrypted samples', (bytes, at) => void bytes.write('encv', at('avc1', 2) - 4, 'latin1')],
    ['has media elsewhere', (bytes, at) => void bytes.writeUInt32BE(0, at('url '))],
    ['has no video', (bytes, at) => void bytes.write('text', at('hdlr') + 8, 'latin1')],
  ];
  it.each(cases)('rejects a file that %s', async (_name, change) => {
    await expect(mux(changed(files.video, change))).rejects.toBeInstanceOf(UnsupportedMp4);
  });

  it('rejects without FFmpeg fallback when samples lie beyond the end of the file', async () => {
    const cut = mux(changed(files.video, (bytes, at) => void bytes.writeUInt32BE(0xffff_0000, at('stco') + 8)));
    await expect(cut).rejects.toThrow('The file ends before what its header describes');
    await expect(cut).rejects.not.toBeInstanceOf(UnsupportedMp4);
  });

  it('rejects or breaks for any corrupted byte of the header', async () => {
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48_271) % 0x7fff_ffff;
      return seed % below;
    };
    for (const original of [files.video, files.fragmented]) {
      const moov = original.indexOf('moov', 0, 'latin1');
      for (let count = 0; count < 200; count += 1) {
        const bytes = Buffer.from(original);
        const length = Math.min(bytes.length - moov, 3000);
        for (let flips = 0; flips <= random(3); flips += 1)
          bytes[moov + random(length)] = [0, 1, 0x7f, 0xff][random(4)] ?? 0;
        const body = await mux(fileSource(bytes)).catch((error) => error);
        if (body instanceof Error) expect(isRefused(body)).toBe(true);
        else {
          const end = await buffer(body).catch((error) => error);
          if (end instanceof Error) expect(isRefused(end)).toBe(true);
        }
      }
    }
  });

  it('destroys the stream at a malformed later fragment', async () => {
    const last =
      files.fragmented.indexOf('trun', files.fragmented.lastIndexOf('moof', undefined, 'latin1'), 'latin1') + 4;
    const body = await mux(changed(files.fragmented, (bytes) => void bytes.writeUInt32BE(0x7fff_ffff, last + 4)));
    await expect(buffer(body)).rejects.toBeInstanceOf(UnsupportedMp4);
  });
});

describe('bytes after the last fragment', () => {
  it.each([
    ['a few zeroes', Buffer.alloc(12)],
    ['nothing that has a name', Buffer.from('0000000901020304ffffff', 'hex')],
    ['a box longer than the file', Buffer.from('\0\x01\0\0free1234', 'latin1')],
    ['half a long box', Buffer.from('\0\0\0\x01free1234', 'latin1')],
    ['text', Buffer.from('<!-- served by a cache -->')],
  ])('may be %s', async (_name, rest) => {
    const whole = await buffer(await mux(fileSource(files.fragmented)));
    const body = await buffer(await mux(fileSource(Buffer.concat([files.fragmented, rest]))));
    expect(body.equals(whole)).toBe(true);
  });

  it.each(['moof', 'mdat'])('may not be a truncated %s', async (type) => {
    const rest = Buffer.from(`\0\x01\0\0${type}1234`, 'latin1');
    const body = await mux(fileSource(Buffer.concat([files.fragmented, rest])));
    await expect(buffer(body)).rejects.toThrow('A box reaches beyond the file');
  });
});

describe('source failures', () => {
  it.each(['video', 'fragmented'] as const)(
    'destroy the stream when reading fails in the middle (%s)',
    async (name) => {
      const source = fileSource(files[name], { cutAt: 65_536 });
      const outcome = mux(source).then((body) => buffer(body));
      await expect(outcome).rejects.toThrow('The source failed');
      await until(() => source.reading.size === 0);
    },
  );

  it('destroy the stream when the source ends before its size', async () => {
    const { read } = fileSource(files.fragmented.subarray(0, files.fragmented.length - 70_000));
    const source = { ...fileSource(files.fragmented), read };
    await expect(mux(source).then((body) => buffer(body))).rejects.toThrow('The source ended early');
  });

  it('close the sources when the stream is destroyed', async () => {
    const video = fileSource(files.video);
    const audio = fileSource(files.audio);
    const body = await mux(video, audio);
    body.destroy();
    await until(() => video.reading.size + audio.reading.size === 0);
  });

  it('close the sources when aborted while headers are read', async () => {
    const leaving = new AbortController();
    const video = fileSource(files.video);
    const muxing = mux(video, fileSource(files.audio), leaving.signal);
    leaving.abort();
    await expect(muxing).rejects.toThrow('Reader destroyed');
    await until(() => video.reading.size === 0);
  });

  it('reject a source of unknown size as unsupported', async () => {
    await expect(mux(fileSource(files.video, { sized: false }))).rejects.toBeInstanceOf(UnsupportedMp4);
  });
});
