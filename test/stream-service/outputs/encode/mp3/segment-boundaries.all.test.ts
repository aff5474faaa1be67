import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '@reelay/source';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { codedSound, decode, ffmpeg, listen, RATE } from './coded-sound.ts';
import { encodedSounds } from './encoded-sound.ts';
import { fastLame, fileSource, listedFile, readRange, resourceOf, shortSegments, startMp3, track } from './fixture.ts';

/** With the boundary of two segments at 24 s. */
const SECONDS = 28;
const AAC = ['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '128k'];
const COPY = ['-c', 'copy'];
const HLS = ['-f', 'hls', '-hls_list_size', '0'];
/** One encode per coding: further containers receive copies of its packets. */
const ENCODES = {
  'a.m4a': AAC,
  'f.mp4': ['-ar', '44100', ...AAC, '-movflags', 'frag_keyframe+empty_moov'],
  'o.webm': ['-c:a', 'libopus', '-compression_level', '0', '-b:a', '128k'],
  'v.ogg': ['-ar', '44100', '-c:a', 'libvorbis', '-q:a', '5'],
  'x.flac': ['-ar', '44100', '-compression_level', '0'],
  'c.mp3': ['-ar', '44100', '-compression_level', '9', '-b:a', '128k', '-write_xing', '0'],
  'v.mp3': ['-ar', '44100', '-compression_level', '9', '-q:a', '4'],
} as const;
/** Beside pictures: packets that begin at 0, 0.08 and 0.1 s in fragments, as B-frames have it, and later than the picture. */
const MUXES = {
  'muxed.mp4': [
    '-map',
    '1:v',
    '-map',
    '0:a',
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '3', '-g', '25'],
    // Without noise that decoders make up.
    ...[...AAC, '-aac_pns', '0'],
  ],
} as const;
/** The time line of a source in one pass. */
const FILL_GAPS = 'aresample=48000:async=1:min_hard_comp=0.001:first_pts=0';
/** Matroska has timestamps in milliseconds. */
const MILLISECOND = RATE / 1000;
const folder = await temporaryFolder();
const mp3 = await startMp3({}, (encoding) => fastLame(shortSegments(encoding)));
/** With five boundaries. */
const wav = await startMp3({ format: 'wav' }, (encoding) => ({ ...encoding, groupFrames: 200 }));
const oneSegment = await startMp3({ format: 'wav' }, (encoding) => ({ ...encoding, groupFrames: 100_000 }));

describe('a conversion contains every sample once and in order, across segment boundaries', () => {
  const original = codedSound(SECONDS);
  const encoded = async (name: keyof typeof ENCODES) => join(await encodedSounds(SECONDS, ENCODES), name);
  const encodedFile = async (name: keyof typeof ENCODES) => fileSource(await readFile(await encoded(name)));
  const encodedWithPictures = async () => {
    const pictures = ['-f', 'lavfi', '-i', `testsrc=s=64x64:r=25:d=${SECONDS}`];
    return join(await encodedSounds(SECONDS, MUXES, pictures), 'muxed.mp4');
  };

  /** The delays of all moments, in samples. */
  async function lagsOf(name: string, source: Source, conversions = mp3): Promise<number[]> {
    const representation = await conversions.open(resourceOf({ id: name, durationSeconds: SECONDS }), track, source);
    const body = await readRange(representation, 0);
    expect(body.length).toBe(representation.size);

    const decoded = await decode(body);
    expect(decoded.length).toBe(SECONDS * RATE);
    const heard = listen(original, decoded, 0.5);
    expect(Math.min(...heard.map(({ likeness }) => likeness))).toBeGreaterThan(0.95);
    return heard.map(({ lag }) => lag);
  }

  /** Differences between them. */
  async function spread(name: string, source: Source, conversions = mp3): Promise<number> {
    const lags = await lagsOf(name, source, conversions);
    return Math.max(...lags) - Math.min(...lags);
  }

  it.each([
    ['MP3', 'a.m4a', mp3],
    ['MP3', 'x.flac', mp3],
    ['WAV', 'a.m4a', wav],
    ['WAV', 'x.flac', wav],
  ] as const)('%s, and at the very place that it has in %s', async (_, name, conversions) => {
    const lags = await lagsOf(name, await encodedFile(name), conversions);
    expect(Math.max(...lags.map(Math.abs))).toBeLessThanOrEqual(1);
  });

  it.each([
    ['f.mp4', 1],
    ['o.webm', MILLISECOND],
    ['c.mp3', 1],
  ] as const)('WAV of %s', async (name, tolerance) => {
    expect(await spread(name, await encodedFile(name), wav)).toBeLessThanOrEqual(tolerance);
  });

  it.each([
    ['AAC in MP4', 'a.m4a', 0],
    ['AAC of 44.1 kHz in fragmented MP4', 'f.mp4', 1],
    ['Opus in WebM', 'o.webm', MILLISECOND],
    ['Vorbis in Ogg', 'v.ogg', 1],
    ['FLAC', 'x.flac', 1],
    ['MP3 of constant bit rate', 'c.mp3', 1],
    ['MP3 of variable bit rate', 'v.mp3', 1],
  ] as const)('%s', async (_, name, tolerance) => {
    expect(await spread(name, await encodedFile(name))).toBeLessThanOrEqual(tolerance);
  });

  it.each([
    ['Vorbis in WebM', 'v.webm', 'v.ogg', MILLISECOND],
    ['MPEG-TS', 't.ts', 'f.mp4', 1],
  ] as const)('%s', async (_, name, from, tolerance) => {
    const file = join(folder, name);
    await ffmpeg('-i', await encoded(from), ...COPY, file);
    expect(await spread(name, fileSource(await readFile(file)))).toBeLessThanOrEqual(tolerance);
  });

  it.each([
    ['MPEG-TS segments', 'f.mp4', ['-hls_time', '6']],
    ['MPEG-TS segments with rounded durations', 'a.m4a', ['-hls_time', '4', '-hls_flags', 'round_durations']],
    ['fragmented MP4 segments', 'a.m4a', ['-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', 'init.mp4']],
  ] as const)('%s', async (name, from, args) => {
    const playlist = join(folder, name.replaceAll(' ', '-'), 'list.m3u8');
    await mkdir(join(playlist, '..'));
    await ffmpeg('-i', await encoded(from), ...COPY, ...HLS, ...args, playlist);
    expect(await spread(name, await listedFile(playlist))).toBeLessThanOrEqual(1);
  });

  it('MP3 segments without timestamps', async () => {
    const playlist = join(folder, 'packed.m3u8');
    const bare = ['-segment_format', 'mp3', '-segment_format_options', 'write_xing=0:id3v2_version=0'];
    const list = ['-f', 'segment', '-segment_time', '9.9', ...bare, '-segment_list', playlist];
    await ffmpeg('-i', await encoded('c.mp3'), ...COPY, ...list, join(folder, '%d.mp3'));
    expect(await spread('packed', await listedFile(playlist))).toBeLessThanOrEqual(1);
  });

  it.each([
    ['fragmented MP4 with B-frames', ['-movflags', 'frag_keyframe+empty_moov'], false],
    ['sound that an empty edit delays', ['-movflags', 'faststart'], true],
  ] as const)('%s, at the places of the source', async (name, options, isDelayed) => {
    const muxed = await encodedWithPictures();
    const delayed = !isDelayed ? [] : ['-itsoffset', '0.12', '-i', muxed, '-map', '0:v', '-map', '1:a'];
    const file = join(folder, `${name.replaceAll(' ', '-')}.mp4`);
    await ffmpeg('-i', muxed, ...delayed, ...COPY, ...options, file);
    const media = await readFile(file);
    const placesIn = (sound: Float32Array) => listen(original, sound, 0.5).map(({ lag }) => lag);
    const expected = placesIn(await decode(media, FILL_GAPS));

    const item = resourceOf({ id: name, durationSeconds: SECONDS });
    for (const conversions of [mp3, wav]) {
      const body = await readRange(await conversions.open(item, track, fileSource(media)), 0);
      const apart = placesIn(await decode(body)).map((lag, index) => Math.abs(lag - (expected[index] ?? Number.NaN)));
      expect(Math.max(...apart)).toBeLessThanOrEqual(1);
    }
  });

  it.each([
    ['MPEG-TS', []],
    ['fragmented MP4', ['-hls_segment_type', 'fmp4']],
  ] as const)('lists of %s with pictures, as one segment has them', async (name, args) => {
    const muxed = await encodedWithPictures();
    const playlist = join(folder, `pictures-${args.length}`, 'list.m3u8');
    await mkdir(join(playlist, '..'));
    await ffmpeg('-i', muxed, ...COPY, ...HLS, '-hls_time', '4', ...args, playlist);
    const source = await listedFile(playlist);
    expect(await spread(name, source)).toBeLessThanOrEqual(1);
    const item = resourceOf({ id: name, durationSeconds: SECONDS });
    const [parts, whole] = await Promise.all(
      [wav, oneSegment].map(async (each) => readRange(await each.open(item, track, source), 0)),
    );
    expect(parts?.equals(whole ?? Buffer.alloc(0))).toBe(true);
  });

  it('audio that starts later than the video', async () => {
    const file = join(folder, 'late.ts');
    const video = ['-f', 'lavfi', '-i', `color=s=64x64:r=10:d=${SECONDS + 2}`];
    const audio = ['-itsoffset', '1.5', '-i', await encoded('f.mp4')];
    await ffmpeg(...video, ...audio, '-map', '0:v', '-map', '1:a', '-g', '50', '-c:a', 'copy', file);
    expect(await spread('late', fileSource(await readFile(file)))).toBeLessThanOrEqual(1);
  });
});
