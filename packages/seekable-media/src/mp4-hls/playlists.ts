import type { Chapter } from '../chapters/index.ts';
import type { HlsLayout, HlsStream } from './hls-layout.ts';
import { bandwidthOf } from './segments.ts';

/** URIs of what a playlist refers to, relative to it. */
export interface HlsUris {
  /** The file that all byte ranges count in. */
  readonly file: string;
  readonly playlist: (stream: HlsStream) => string;
  /** What `writeHlsChapters` writes. Absent: there are none. */
  readonly chapters?: string | undefined;
}

/**
 * Byte ranges in `EXT-X-MAP` of a playlist without `EXT-X-I-FRAMES-ONLY` need version 6, floating-point durations 3
 * (RFC 8216 §7).
 */
const VERSION = 7;
const AUDIO_GROUP = 'audio';

/**
 * The master playlist (RFC 8216 §4.3.4) of one variant stream: the video, with each audio as a rendition where it is a stream
 * of its own. The first one plays unless another is chosen.
 */
export function writeMasterPlaylist({ streams }: Pick<HlsLayout, 'streams'>, uris: HlsUris): string {
  const [variant, ...audio] = streams;
  if (!variant) throw new TypeError('No stream');
  const { resolution, framesPerSecond } = variant;
  const rateOf = ({ segments }: HlsStream) => bandwidthOf(segments, targetSeconds(segments));
  const highest = (rates: readonly number[]) => Math.max(0, ...rates);
  const [shown, heard] = [rateOf(variant), audio.map(rateOf)];
  // The sum of the peaks is the largest that playing both can reach (§4.3.4.2).
  const peak = shown.peak + highest(heard.map((rate) => rate.peak));
  const average = shown.average + highest(heard.map((rate) => rate.average));
  const codecs = new Set(streams.flatMap((stream) => stream.codecs));
  const media = audio.map((stream, index) => [
    'TYPE=AUDIO',
    `GROUP-ID="${AUDIO_GROUP}"`,
    // Quotes cannot be escaped (§4.2).
    `NAME="${stream.sound?.name.replaceAll('"', "'") ?? 'Audio'}"`,
    ...(stream.sound?.language ? [`LANGUAGE="${stream.sound.language}"`] : []),
    `DEFAULT=${index === 0 ? 'YES' : 'NO'}`,
    'AUTOSELECT=YES',
    ...(stream.channels ? [`CHANNELS="${stream.channels}"`] : []),
    `URI="${uris.playlist(stream)}"`,
  ]);
  const attributes = [
    `BANDWIDTH=${peak}`,
    `AVERAGE-BANDWIDTH=${average}`,
    `CODECS="${[...codecs].join(',')}"`,
    ...(resolution ? [`RESOLUTION=${resolution.width}x${resolution.height}`] : []),
    ...(framesPerSecond ? [`FRAME-RATE=${framesPerSecond.toFixed(3)}`] : []),
    ...(audio.length > 0 ? [`AUDIO="${AUDIO_GROUP}"`] : []),
  ];
  return lines([
    '#EXTM3U',
    `#EXT-X-VERSION:${VERSION}`,
    ...(streams.every(({ isIndependent }) => isIndependent) ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
    ...(uris.chapters ? [`#EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="${uris.chapters}"`] : []),
    ...media.map((line) => `#EXT-X-MEDIA:${line.join(',')}`),
    `#EXT-X-STREAM-INF:${attributes.join(',')}`,
    uris.playlist(variant),
  ]);
}

/** The media playlist (RFC 8216 §4.3.3) of a stream: all of its segments, as byte ranges of one file. */
export function writeMediaPlaylist({ init, segments, isIndependent }: HlsStream, uris: HlsUris): string {
  return lines([
    '#EXTM3U',
    `#EXT-X-VERSION:${VERSION}`,
    `#EXT-X-TARGETDURATION:${targetSeconds(segments)}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    ...(isIndependent ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
    `#EXT-X-MAP:URI="${uris.file}",BYTERANGE="${init.bytes}@${init.offset}"`,
    ...segments.flatMap(({ offset, bytes, durationSeconds }) => [
      `#EXTINF:${durationSeconds.toFixed(6)},`,
      `#EXT-X-BYTERANGE:${bytes}@${offset}`,
      uris.file,
    ]),
    '#EXT-X-ENDLIST',
  ]);
}

/** Chapters as Apple's players read them (JSON Chapters, HLS Authoring). @param chapters in ascending order */
export const writeHlsChapters = (chapters: readonly Chapter[]): string =>
  JSON.stringify(
    chapters.map(({ title, startSeconds, endSeconds }, index) => ({
      chapter: index + 1,
      'start-time': startSeconds,
      ...(Number.isFinite(endSeconds) && { duration: endSeconds - startSeconds }),
      titles: [{ language: 'und', title }],
    })),
  );

/** No segment, rounded to whole seconds, may be longer (§4.3.3.1). */
const targetSeconds = (segments: HlsStream['segments']): number =>
  segments.reduce((longest, { durationSeconds }) => Math.max(longest, Math.round(durationSeconds)), 1);

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;
