import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { closeParsing, parse, READ_CONTAINER } from '../../../../core/parsing/index.ts';
import { type RemoteFile, readTraits } from '../../../../core/resolve/probe/read-file.ts';
import { ensureMedia } from '../../../origin/media.ts';

/** An ADTS frame with a length of 0: a parser that skips to the next frame loops forever. */
const ENDLESS = Buffer.concat([Buffer.from('fff15040000000', 'hex'), Buffer.alloc(57)]);

const encode = (options: string) =>
  execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'sine=duration=1', ...options.split(' '), 'pipe:1']);
/** As `encode`, for a muxer that has to seek. */
const encodeFile = (options: string) => {
  const file = join(mkdtempSync(join(tmpdir(), 'reelay-probe-')), 'file');
  execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'sine=duration=1', ...options.split(' '), file]);
  const bytes = readFileSync(file);
  rmSync(dirname(file), { recursive: true });
  return bytes;
};
const PICTURE = '-f lavfi -i testsrc=s=64x48:r=10:d=1';
const WAV = encode('-f wav');
const FRAGMENTED = encode('-c:a aac -movflags frag_keyframe+empty_moov+default_base_moof -f mp4');

const u32 = (...numbers: number[]) =>
  Buffer.concat(numbers.map((number) => Buffer.from(number.toString(16).padStart(8, '0'), 'hex')));
const box = (type: string, ...parts: Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length + 8), Buffer.from(type), body]);
};
/** An MP4 of 900 bytes whose one fragment declares 4,294,967,295 samples (ISO/IEC 14496-12 §8.8). */
const crowded = () => {
  const movie = FRAGMENTED.subarray(0, FRAGMENTED.indexOf('moof') - 4);
  const header = box('tfhd', u32(0x020038, 1, 1, 1, 0));
  const fragment = box('traf', header, box('tfdt', u32(0, 0)), box('trun', u32(0, 0xffffffff)));
  return Buffer.concat([movie, box('moof', box('mfhd', u32(0, 1)), fragment), box('mdat', Buffer.alloc(64))]);
};

/** A WebM whose duration is only in its header (RFC 9559 §5.1.2.10). */
const lasting = async (seconds: number) => {
  const webm = await readFile(join(await ensureMedia(), 'tone.webm'));
  webm.writeDoubleBE(seconds * 1000, webm.indexOf('448988', 'hex') + 3);
  for (let at = webm.indexOf('DURATION'); at >= 0; at = webm.indexOf('DURATION')) webm.write('DURATIOX', at);
  return webm;
};

const fileOf = (bytes: Buffer): RemoteFile => ({
  status: 200,
  size: bytes.length,
  isCompressed: false,
  blocks: [{ start: 0, bytes }],
  load: () => Promise.reject(new Error('Out of reach')),
});
const probeBytes = async (bytes: Buffer, signal = new AbortController().signal) =>
  (await readTraits(fileOf(bytes), { client: 'client', signal })).result;

describe('readTraits', () => {
  afterAll(closeParsing);

  it.each([
    ['causes an endless loop', ENDLESS, undefined],
    ['exhausts the memory', crowded(), { container: 'mp4', video: {}, audio: {}, isAssumed: true }],
  ])(
    'falls back to the magic bytes of a file that %s, without blocking this process, and reads the next file',
    async (_, bytes, expected) => {
      let beats = 0;
      const heart = setInterval(() => beats++, 10);
      const [facts, next] = await Promise.all([probeBytes(bytes), probeBytes(WAV)]);
      clearInterval(heart);
      expect(facts).toEqual(expected);
      expect(beats).toBeGreaterThan(10);
      expect(next).toMatchObject({ container: 'wav', durationSeconds: 1 });
    },
  );

  it.each([1e20, Number.POSITIVE_INFINITY, 2e7, 5e6])('ignores a duration of %d seconds', async (seconds) => {
    const { container, durationSeconds } = (await probeBytes(await lasting(seconds))) ?? {};
    expect(container).toBe('webm');
    expect(durationSeconds).toBeCloseTo(6, 1);
  });

  describe('of an MP4 whose tables and headers disagree', () => {
    const M4A = encodeFile('-c:a aac -movflags +faststart -f mp4');
    /** Overwrites 32-bit fields of a box, by their offset from its type. */
    const forge = (type: string, ...fields: [offset: number, value: number][]) => {
      const bytes = Buffer.from(M4A);
      for (const [offset, value] of fields) bytes.writeUInt32BE(value, bytes.indexOf(type) + offset);
      return bytes;
    };
    const timescale = M4A.readUInt32BE(M4A.indexOf('mdhd') + 16);
    const long = [20, timescale * 50] as [number, number];

    it('uses the tables where the header declares more', async () => {
      expect((await probeBytes(M4A))?.durationSeconds).toBeCloseTo(1, 1);
      expect((await probeBytes(forge('mdhd', long)))?.durationSeconds).toBeCloseTo(1, 0);
    });

    it.each([
      // After version and flags: the number of rows, then count and duration of each.
      ['samples last for hours', () => forge('stts', [12, 1000], [16, timescale * 3600])],
      // After version and flags: the size of all samples, then their number.
      ['samples are larger than the file', () => forge('stsz', [8, 1_000_000])],
    ])('knows no duration where %s', async (_, bytes) => {
      const facts = await probeBytes(bytes());
      expect(facts).toMatchObject({ container: 'm4a' });
      expect(facts?.durationSeconds).toBeUndefined();
    });
  });

  describe('tells codecs that are not read themselves', () => {
    it.each<[string, () => Buffer, object]>([
      [
        'Theora with Vorbis',
        () => encode(`${PICTURE} -c:v libtheora -c:a libvorbis -f ogg`),
        { container: 'ogv', video: { codec: 'theora', width: 64, height: 48 }, audio: { codec: 'vorbis' } },
      ],
      [
        'Theora alone',
        () => encode(`${PICTURE} -map 1:v -c:v libtheora -f ogg`),
        { container: 'ogv', video: { codec: 'theora' }, audio: null },
      ],
      ['FLAC in Ogg', () => encode('-c:a flac -f ogg'), { container: 'ogg', video: null, audio: { codec: 'flac' } }],
      [
        'MPEG-2 in MPEG-TS',
        () => encode(`${PICTURE} -c:v mpeg2video -r 25 -c:a aac -f mpegts`),
        { container: 'ts', video: { codec: 'mpeg2video' }, audio: { codec: 'mp4a.40.2' } },
      ],
      [
        'MPEG-4 Part 2 and MPEG Layer II in Matroska',
        () => encode(`${PICTURE} -c:v mpeg4 -c:a mp2 -f matroska`),
        { container: 'mkv', video: { codec: 'mp4v', height: 48 }, audio: { codec: 'mp2' } },
      ],
      [
        'ALAC in MP4',
        () => encodeFile('-c:a alac -f ipod'),
        { container: 'm4a', video: null, audio: { codec: 'alac' } },
      ],
    ])('%s', async (_, file, expected) => expect(await probeBytes(file())).toMatchObject(expected));
  });

  it.each(['ac3', 'eac3', 'au'])('recognizes raw %s', async (format) =>
    expect(await probeBytes(encode(`-f ${format}`))).toEqual({
      container: format.replace('e', ''),
      video: null,
      audio: {},
      isAssumed: true,
    }),
  );

  it.each<[string, Buffer, number | undefined]>([
    ['AVI', encodeFile(`${PICTURE} -c:a pcm_s16le -f avi`), 1],
    ['AVI without sound', encodeFile(`${PICTURE} -map 1:v -f avi`), 1],
    ['AIFF', encodeFile('-f aiff'), 1],
    ['AIFC', encodeFile('-c:a pcm_s16le -f aiff'), 1],
    ['AIFC of packets', encodeFile('-c:a adpcm_ima_qt -f aiff'), undefined],
    ['AVI that ends in its header', Buffer.from('RIFF\0\0\0\0AVI LIST\0\0\0\0hdrlstrh\x38\0\0\0auds'), undefined],
    ['AIFF that ends in its header', Buffer.from('FORM\0\0\0\0AIFFCOMM\0\0\0\x12'), undefined],
  ])('reads the duration of %s from its header', async (_, bytes, seconds) => {
    const { durationSeconds } = (await probeBytes(bytes)) ?? {};
    expect(durationSeconds && Math.round(durationSeconds * 100) / 100).toBe(seconds);
  });

  it('tells that a file was not read for an aborted signal', async () => {
    const signal = AbortSignal.abort(new Error('Too late'));
    const failure = expect.objectContaining({ message: 'Too late' });
    const assumed = { container: 'mp4', video: {}, audio: {}, isAssumed: true };
    expect(await readTraits(fileOf(FRAGMENTED), { client: 'client', signal })).toEqual({ result: assumed, failure });
    await expect(readTraits(fileOf(WAV), { client: 'client', signal })).rejects.toThrow('Too late');
  });

  it('does not write file contents to the terminal', async () => {
    const output = vi.spyOn(console, 'warn');
    const strange = Buffer.from(FRAGMENTED);
    strange.write('\x1b[2J', strange.indexOf('mp4a'), 'latin1');
    await probeBytes(strange);
    expect(output).not.toHaveBeenCalled();
  });
});

describe('READ_CONTAINER', () => {
  afterAll(closeParsing);

  it('returns the missing range, unless no more bytes are available', async () => {
    const head = { size: FRAGMENTED.length, blocks: [{ start: 0, bytes: FRAGMENTED.subarray(0, 100) }] };
    const read = (isLast: boolean) => parse(READ_CONTAINER, { ...head, wantsDuration: true, isLast });
    const { missing, contents } = await read(false);
    expect(missing?.[0]).toBeLessThanOrEqual(100);
    expect(missing?.[1]).toBeGreaterThan(100);
    expect(contents).toBeUndefined();
    expect(await read(true)).toEqual({});
  });
});
