import { describe, expect, it } from 'vitest';
import { MAX_BLOCK_BYTES } from '../../../packages/seekable-media/src/zip.ts';
import { openResponse, sendRequest } from '../../support/request.ts';
import { type FormatId, keys, sizeOf, startCounted } from './fetched-bytes-fixture.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
/** The first range of a read. */
const READ_BYTES = 256 * KiB;
/** What is made and not yet sent: it lies between the source and the socket of a client. */
const BUFFERED_BYTES = 320 * KiB;
/** What is read of a file for its headers. */
const HEADER_BYTES = 64 * KiB;
/** The largest fragments: 1 s of video at 160 kbit/s, and 5 s of audio at 64 kbit/s. */
const FRAGMENT_BYTES = 120_000;
/** A fragment of the video, and two of the audio where one ends in its time. */
const SUBSEGMENT_BYTES = 160_000;
/** What FFmpeg reads of these files before it reads media. */
const FFMPEG_HEADER_BYTES = 512 * KiB;
/** Before FFmpeg writes a byte: what it is told of the segments, and what a pipe holds. */
const FFMPEG_PROBE_BYTES = 512 * KiB;
const BYTES_OF_HLS = 9_100_000;

const perSecond = (formatId: FormatId, seconds: number) => sizeOf(formatId) / seconds;
/** A segment of the grid, 144 s, with what is decoded before and behind it. */
const gridSegment = (bytesPerSecond: number) => 150 * bytesPerSecond + FFMPEG_HEADER_BYTES;
const SOUND = perSecond('sound', 900);
const BOTH = perSecond('both', 300);
/** Seconds of the grid of WAV: 24. */
const WAV_SEGMENT_BYTES = 30 * SOUND + FFMPEG_HEADER_BYTES;
/** Video that lies between the audio of a file. */
const INTERLEAVED = sizeOf('both') / sizeOf('audio');

interface Output {
  readonly path: string;
  readonly seconds: number;
  /** At most 2 bytes are fetched for each byte that is sent, and these. */
  readonly unit: number;
  /** The same for the first request. @default `unit` */
  readonly first?: number;
  /** Sources that are read at once. @default 1 */
  readonly sources?: number;
  /** What is read of the source for a byte of the output. @default 1 */
  readonly perByte?: number;
  /** Fetched for a byte next to one that was sent. @default `unit` */
  readonly again?: number;
  /** Each subsegment costs the encoding of a segment: fewer are read. */
  readonly isEncoded?: boolean;
}

const mp3 = (formatId: FormatId, bytesPerSecond: number, seconds: number, more = ''): Output => ({
  path: `Media/${keys.media(formatId)}?format=mp3${more}`,
  seconds,
  unit: gridSegment(bytesPerSecond),
  again: 96 * KiB,
  isEncoded: true,
});
const pair = (path: string, unit: number): Output => ({
  path,
  seconds: 300,
  unit,
  first: unit + 2 * HEADER_BYTES,
  sources: 2,
});
const file = (path: string, more: Partial<Output> = {}): Output => ({
  path,
  seconds: 300,
  unit: 0,
  first: HEADER_BYTES,
  ...more,
});
const both = keys.media('both');
const sound = keys.media('sound');

/** Every output, and its unit: what is fetched whole although a byte of it is asked for. */
const OUTPUTS: Readonly<Record<string, Output>> = {
  'a file': file(`Media/${sound}`),
  'a file on Combined': file(`Combined/${both}`),
  'a file with subtitles': file(`Media/${both}?subtitles=en`),
  'MP3: a segment of the grid': mp3('sound', SOUND, 900),
  'MP3 with tags: a segment of the grid': mp3('sound', SOUND, 900, '&tags=true'),
  'a clip of MP3: a segment of the grid': mp3('sound', SOUND, 900, '&start=300&end=360'),
  'MP3 of a video: a segment of the grid': mp3('both', BOTH, 300),
  'MP3 of HLS: a segment of the grid': mp3('hls', BYTES_OF_HLS / 300, 300),
  'WAV: a segment of the grid': {
    path: `Media/${sound}?format=wav`,
    seconds: 900,
    unit: WAV_SEGMENT_BYTES,
    again: 96 * KiB,
  },
  'M4A of a video: what lies between its audio': file(`Media/${both}?format=m4a`, {
    perByte: INTERLEAVED,
    unit: 256 * KiB,
  }),
  'M4A with tags': file(`Media/${sound}?format=m4a&tags=true`, { first: 4 * HEADER_BYTES }),
  'a clip': file(`Media/${both}?start=100&end=160`),
  'a progressive pair': pair(`Media/${keys.progressive}`, 0),
  'a progressive pair on Combined': pair(`Combined/${keys.progressive}`, 0),
  'a fragmented pair: a subsegment': pair(`Media/${keys.fragmented}`, SUBSEGMENT_BYTES),
  'a fragmented pair on Combined: a subsegment': pair(`Combined/${keys.fragmented}`, SUBSEGMENT_BYTES),
  'HLS: a segment': { path: `Media/${keys.media('hls')}`, seconds: 300, unit: FFMPEG_PROBE_BYTES },
  'DASH: a segment': { path: `Media/${keys.media('dash')}`, seconds: 8, unit: 2 * MiB },
  'a master playlist: the headers': pair(`Hls/${keys.progressive}/master.m3u8`, 0),
  'a media playlist: the headers': pair(`Hls/${keys.fragmented}/video.m3u8`, 0),
  'what a playlist refers to: a fragment': pair(`Hls/${keys.fragmented}/video.mp4`, FRAGMENT_BYTES),
  'ZIP: a block of each of two entries': file(`Archive/${keys.archive}`, { unit: 2 * MAX_BLOCK_BYTES, sources: 2 }),
  'subtitles: the file': file(`Subtitle/${keys.subtitle}`, { unit: sizeOf('captions') }),
  'a cover: the file': file(`Cover/${sound}`, { unit: sizeOf('cover') }),
};

describe('bytes fetched', () => {
  it.each(Object.entries(OUTPUTS))('%s', async (_name, output) => {
    const { path, seconds, unit, first = unit, sources = 1, perByte = 1, again = unit, isEncoded } = output;
    const { url, count } = await startCounted(seconds);
    const results: [what: string, fetched: number, atMost: number][] = [];
    /** Starts to read, and leaves with the first bytes. */
    const leave = async (range: string, atMost: number) => {
      const { fetched, sent } = await count(async () => {
        const { status, body } = await openResponse(`${url}/${path}`, { headers: { range } });
        expect(status).toBeLessThan(300);
        await new Promise((resolve) => body.once('data', resolve));
        body.on('error', () => undefined).destroy();
      });
      // Without an end, a range is as long as all that was read before it.
      const read = 2 * perByte * (sent + sources * BUFFERED_BYTES);
      results.push([`leave ${range}`, fetched, read + atMost + sources * READ_BYTES]);
    };
    const readRange = async (start: number, bytes: number, atMost = unit) => {
      let size: number | undefined;
      const range = `bytes=${start}-${start + bytes - 1}`;
      const { fetched, sent } = await count(async () => {
        const { status, headers, body } = await sendRequest(`${url}/${path}`, { headers: { range } });
        expect(status).toBeLessThan(300);
        if (status === 206) size = Number(headers['content-range']?.split('/')[1]);
        else expect(body.length).toBeGreaterThan(bytes);
      });
      results.push([range, fetched, Math.max(2, perByte) * sent + atMost]);
      return size;
    };

    await leave('bytes=0-', first);
    const size = await readRange(0, 1);
    if (size !== undefined) {
      for (const part of isEncoded ? [0.9] : [0.34, 0.9]) await readRange(Math.floor(size * part), 1);
      await readRange(Math.floor(size * 0.9), 1, again);
      for (const bytes of isEncoded ? [64 * KiB] : [64 * KiB, MiB]) await readRange(Math.floor(size * 0.47), bytes);
      await leave(`bytes=${Math.floor(size * 0.5)}-`, unit);
    }
    expect(results.filter(([, fetched, atMost]) => fetched > atMost)).toEqual([]);
  });
});
