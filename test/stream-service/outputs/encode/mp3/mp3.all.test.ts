import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { createByteStore, type Source } from '@reelay/source';
import { beforeAll, describe, expect, it } from 'vitest';
import { mp3SizeBytes } from '../../../../../core/conversions/conversion.ts';
import { runningFfmpegs } from '../../../../../stream-service/ffmpeg/run-ffmpeg.ts';
import { createComputedExtents } from '../../../../../stream-service/outputs/computed-extents.ts';
import { madeBy } from '../../../../origin/media.ts';
import { newestFfmpeg } from '../../../../support/installed-tools.ts';
import { heldFfmpegs } from '../../../sessions/held-ffmpegs.ts';
import { codedSound, decode, listen, RATE } from './coded-sound.ts';
import { encodedSounds } from './encoded-sound.ts';
import {
  fastLame,
  fileSource,
  LIMITS,
  problemOf,
  readRange,
  resourceOf,
  segmentedSource,
  shortSegments,
  startMp3,
  track,
} from './fixture.ts';

/** With the boundaries of segments at 24 s and 48 s. */
const SECONDS = 52;
/** With one at 24 s. */
const SHORT_SECONDS = 30;
const SHORT = ['-t', String(SHORT_SECONDS)];
const OPUS = ['-c:a', 'libopus', '-compression_level', '0', '-b:a', '128k'];
/** FFmpeg's options of short sources, by what differs from the conversion. */
const FORMATS = {
  '8 kHz': ['-ar', '8000'],
  '11.025 kHz': ['-ar', '11025'],
  '22.05 kHz': ['-ar', '22050'],
  '44.1 kHz': ['-ar', '44100'],
  '96 kHz': ['-ar', '96000'],
  'one channel': ['-ac', '1'],
  'six channels': ['-ac', '6'],
};
const flacOf = (format: string) => `${format.replaceAll(' ', '-')}.flac`;
const ENCODES = {
  'o.webm': OPUS,
  'short.webm': [...SHORT, ...OPUS],
  'a.m4a': [...SHORT, '-c:a', 'aac', '-aac_coder', 'fast'],
  ...Object.fromEntries(Object.entries(FORMATS).map(([format, options]) => [flacOf(format), [...SHORT, ...options]])),
};
const resource = resourceOf({ durationSeconds: SECONDS, title: 'Title', author: 'Artist' });

/** Starts a converter with short segments and the fastest algorithm, on which nothing here depends. */
const start = (options: Parameters<typeof startMp3>[0] = {}) =>
  startMp3(options, (encoding) => fastLame(shortSegments(encoding)));

describe('encode', () => {
  const audible = codedSound(SECONDS).subarray(0, SHORT_SECONDS * RATE);
  const expectHeard = (samples: Float32Array) =>
    expect(listen(audible, samples, 5).every(({ likeness }) => likeness > 0.95)).toBe(true);
  let encodes: string;
  let webm: Buffer;
  /** The first `SHORT_SECONDS` of the sound. */
  let short: Buffer;
  let whole: Buffer;
  let mp3: Awaited<ReturnType<typeof start>>;

  beforeAll(async () => {
    encodes = await encodedSounds(SECONDS, ENCODES);
    webm = await readFile(join(encodes, 'o.webm'));
    short = await readFile(join(encodes, 'short.webm'));
    mp3 = await start();
    whole = await readRange(await open(), 0);
  });

  const open = (source = fileSource(webm), from = resource) => mp3.open(from, track, source);

  /** Settles when the processes of ended streams have exited. */
  async function allEnded() {
    const running = () => runningFfmpegs() + heldFfmpegs(mp3.admission, LIMITS.maxFfmpeg);
    while (running() > 0) await turn();
  }

  describe('of a known duration', () => {
    it('has the promised size before anything is encoded', async () => {
      const { size, mimeType, fileExtension, etag } = await open();
      expect(runningFfmpegs()).toBe(0);
      expect(size).toBe(mp3SizeBytes(SECONDS, { title: 'Title', artist: 'Artist' }));
      expect({ mimeType, fileExtension }).toEqual({ mimeType: 'audio/mpeg', fileExtension: '.mp3' });
      expect(etag).toMatch(/^"[\w-]+"$/);
      expect(whole.length).toBe(size);
    });

    it.each(['short.webm', 'a.m4a'])('has the promised size by the newest FFmpeg, too, of %s', async (file) => {
      const newest = await start({ path: await newestFfmpeg() });
      const described = resourceOf({ durationSeconds: SHORT_SECONDS });
      const representation = await newest.open(described, track, fileSource(await readFile(join(encodes, file))));
      expect(await readRange(representation, 0)).toHaveLength(representation.size ?? 0);
    });

    it('returns the same bytes when opened again, to concurrent clients, and with one encoder', async () => {
      const single = await start({
        parallelism: 1,
        limits: { maxFfmpeg: 1 },
        extents: createComputedExtents(createByteStore(1)),
      });
      const [again, another, slow] = await Promise.all([
        readRange(await open(), 0),
        readRange(await open(), 1_000_000),
        readRange(await single.open(resource, track, fileSource(webm)), 0),
      ]);
      expect(again.equals(whole)).toBe(true);
      expect(another.equals(whole.subarray(1_000_000))).toBe(true);
      expect(slow.equals(whole)).toBe(true);
      const [first, last] = [1000 * 576 - 300, 1000 * 576 + 900];
      expect((await readRange(await open(), first, last)).equals(whole.subarray(first, last + 1))).toBe(true);
    });

    it('has a different ETag for each source, encoder build and promised layout', async () => {
      const [source, other] = [fileSource(webm), await start({ buildId: 'another' })];
      const opened = [
        open(),
        open(fileSource(webm.subarray(1))),
        mp3.open(resource, track, { ...source, validator: '"changed"' }),
        ...[{ title: 'Another' }, { durationSeconds: SECONDS + 1 }, { id: 'another' }].map((traits) =>
          open(source, { ...resource, ...traits }),
        ),
        mp3.open(resource, { ...track, formatId: 'another' }, source),
        other.open(resource, track, source),
        ...[2, 3].map((endSeconds) => mp3.open(resource, track, source, { startSeconds: 1, endSeconds })),
        ...([128, 256, 320, 192] as const).map((bitrateKbps) =>
          mp3.open(resource, track, source, undefined, { bitrateKbps }),
        ),
      ];
      const etags = (await Promise.all(opened)).map(({ etag }) => etag);
      // The last one is what the first one is without a choice.
      expect([new Set(etags).size, etags.at(-1)]).toEqual([etags.length - 1, etags[0]]);
      expect((await open()).etag).toBe(etags[0]);
    });
  });

  describe('delivers the promised size', () => {
    it('padded with silence where the audio is shorter', async () => {
      const longer = { ...resource, id: 'longer', durationSeconds: SHORT_SECONDS + 14 };
      const representation = await mp3.open(longer, track, fileSource(short));
      const body = await readRange(representation, 0);
      expect(body.length).toBe(representation.size);
      const samples = await decode(body);
      expectHeard(samples);
      const rest = samples.subarray((SHORT_SECONDS + 0.1) * RATE);
      expect(rest.length).toBeGreaterThan(13 * RATE);
      expect(rest.every((sample) => Math.abs(sample) < 0.001)).toBe(true);
    });

    it.each([
      ['hours', 7200],
      ['a minute', 60],
    ])('not at all where the audio is %s shorter: the stream breaks', async (_, missing) => {
      const forged = { ...resource, id: `forged-${missing}`, durationSeconds: SHORT_SECONDS + missing };
      const representation = await mp3.open(forged, track, fileSource(short));
      const received: Buffer[] = [];
      const stream = representation.read(0).on('data', (chunk) => received.push(chunk));
      const error = await new Promise((resolve) => stream.once('error', resolve));
      expect(error).toMatchObject({ message: expect.stringMatching(/^FFmpeg output is \d+ bytes short$/) });
      // At most the rest of one segment of 24 s, and what is tolerated after it.
      expect(Buffer.concat(received).length).toBeLessThan((SHORT_SECONDS + 24 + 120) * 24_000);
      await allEnded();
    });

    it('truncated where the audio is longer', async () => {
      const shorter = { ...resource, durationSeconds: 10 };
      const body = await readRange(await open(fileSource(webm), shorter), 0);
      expect(body.length).toBe(mp3SizeBytes(10, { title: 'Title', artist: 'Artist' }));
      const frameBytes = 576;
      const soundAt = (body.length % frameBytes) + frameBytes;
      expect(body.subarray(soundAt).equals(whole.subarray(soundAt, body.length))).toBe(true);
    });
  });

  describe('of a failing source', () => {
    it('fails without sending silence', async () => {
      const received: Buffer[] = [];
      const stream = (await open(fileSource(webm, { cutAt: 600_000 }))).read(0);
      stream.on('data', (chunk) => received.push(chunk));
      const error = await new Promise((resolve) => stream.once('error', resolve));
      expect(error).toMatchObject({ message: 'The source failed' });
      const part = Buffer.concat(received);
      expect(part.length).toBeLessThan(whole.length);
      expect(part.equals(whole.subarray(0, part.length))).toBe(true);
      await allEnded();
    });

    it.each<[string, (made: string) => Source | Promise<Source>, number | undefined]>([
      ['cannot be read', () => fileSource(webm, { cutAt: 0 }), SECONDS],
      ['fails, of unknown duration', () => fileSource(webm, { cutAt: 300_000 }), undefined],
      ['is no media', () => fileSource(Buffer.from('<html>Not found</html>'.repeat(100))), SECONDS],
      ['is empty', () => fileSource(Buffer.alloc(0)), SECONDS],
      ['has no audio', async (made) => fileSource(await readFile(join(made, 'silent.mp4'))), SECONDS],
      ['fails at a segment', (made) => segmentedSource(join(made, 'list.m3u8'), { deadFrom: 3 }), undefined],
    ])('fails before the first byte when the source %s', async (id, makeSource, durationSeconds) => {
      const made = await madeBy([
        ['-f', 'lavfi', '-i', 'color=s=64x64:d=1', 'silent.mp4'],
        ['-f', 'lavfi', '-i', 'sine=440:d=30', '-c:a', 'aac', '-hls_time', '6', '-hls_list_size', '0', 'list.m3u8'],
      ]);
      const failing = await mp3.open(resourceOf({ id, durationSeconds }), track, await makeSource(made));
      await expect(problemOf(readRange(failing, 0))).resolves.toMatchObject({ details: { status: 502 } });
      await allEnded();
    });
  });

  describe('for a client', () => {
    it('returns the same bytes when the client pauses until its encoder has ended', async () => {
      const last = 900_000;
      const stream = (await open()).read(0, last);
      const chunks = stream[Symbol.asyncIterator]();
      const received: Buffer[] = [(await chunks.next()).value];
      for (let { value, done } = await chunks.next(); !done; { value, done } = await chunks.next()) {
        received.push(value);
        // Only the first times: behind that the client counts as a fast one.
        if (received.length < 4) await allEnded();
      }
      expect(Buffer.concat(received).equals(whole.subarray(0, last + 1))).toBe(true);
    });

    it('does not encode to the end for a client that does not read', async () => {
      const stream = (await open()).read(0);
      await new Promise((resolve) => stream.once('readable', resolve));
      await allEnded();
      let held = 0;
      stream.on('data', (chunk: Buffer) => {
        held += chunk.length;
        if (held > 64 * 1024) stream.destroy();
      });
      await new Promise((resolve) => stream.once('close', resolve));
      expect(held).toBeLessThan(whole.length / 2);
      await allEnded();
    });

    it('answers 503 when other work runs every process', async () => {
      const busy = await start({ limits: { maxFfmpeg: 1 } });
      const release = busy.admission.acquireFfmpeg('other');
      const known = await busy.open(resource, track, fileSource(webm));
      const unknown = await busy.open(resourceOf({}), track, fileSource(webm));
      await expect(problemOf(readRange(known, 0))).resolves.toMatchObject({ details: { status: 503 } });
      await expect(problemOf(readRange(unknown, 0))).resolves.toMatchObject({ details: { status: 503 } });
      release();
      expect((await readRange(known, 0, 999)).equals(whole.subarray(0, 1000))).toBe(true);
    });
  });

  describe('of an unknown duration', () => {
    it.each([
      ['resource', () => fileSource(short), resourceOf({ title: 'Title' })],
      [
        'size',
        () => fileSource(short, { sized: false }),
        resourceOf({ title: 'Title', durationSeconds: SHORT_SECONDS }),
      ],
    ])('is a sequential stream that starts with the tag: unknown to its %s', async (_, source, from) => {
      const representation = await open(source(), from);
      expect([representation.size, representation.etag]).toEqual([undefined, undefined]);
      const body = await readRange(representation, 0);
      expect(body.subarray(0, 3).toString()).toBe('ID3');
      expectHeard(await decode(body));
    });

    it('ends its encoder when the client disconnects', async () => {
      const source = fileSource(webm);
      const stream = (await open(source, resourceOf({}))).read(0);
      await new Promise((resolve) => stream.once('data', resolve));
      stream.destroy();
      await allEnded();
      expect(source.reading.size).toBe(0);
    });
  });

  it.each(Object.keys(FORMATS))(
    'is 48 kHz stereo, also across a boundary of segments, for a source of %s',
    async (name) => {
      const flac = await readFile(join(encodes, flacOf(name)));
      const described = resourceOf({ id: name, durationSeconds: SHORT_SECONDS });
      const body = await readRange(await mp3.open(described, track, fileSource(flac)), 0);
      expect(body.length).toBe(mp3SizeBytes(SHORT_SECONDS, { title: null, artist: null }));
      for (let at = 0; at < body.length; at += 576) {
        // MPEG-1 Layer III, 192 kbit/s, 48 kHz, unpadded, two channels.
        expect(body.readUInt32BE(at) & 0xffff_fe00).toBe(0xfffb_b400 & 0xffff_fe00);
        expect(body.readUInt8(at + 3) >> 6).toBeLessThan(2);
      }
      const lags = listen(audible, await decode(body), 1).map(({ lag }) => lag);
      expect(Math.max(...lags) - Math.min(...lags)).toBeLessThanOrEqual(1);
    },
  );
});
