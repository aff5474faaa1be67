import type { Chapter } from '../parts/chapters.ts';
import type { HlsStream } from './hls-layout.ts';
import { type Bandwidth, bandwidthOf } from './segments.ts';

/** A stream with the URIs of its files, relative to what lists it. */
export interface ListedStream extends HlsStream {
  /** The file that its byte ranges count in. */
  readonly file: string;
  readonly playlist: string;
}

/**
 * Byte ranges in `EXT-X-MAP` of a playlist without `EXT-X-I-FRAMES-ONLY` need version 6, floating-point durations 3
 * (RFC 8216 §7).
 */
const VERSION = 7;
const AUDIO_GROUP = 'audio';

/**
 * The master playlist (RFC 8216 §4.3.4): each video is a variant stream, with each audio as a rendition where it is a stream
 * of its own. The first one of both plays unless another is chosen.
 * @param chapters the URI of what `writeHlsChapters` writes. Absent: there are none
 */
export function writeMasterPlaylist(streams: readonly ListedStream[], chapters?: string): string {
  const shown = streams.filter(({ kind }) => kind !== 'audio');
  const variants = shown.length > 0 ? shown : streams.slice(0, 1);
  const audio = streams.filter((stream) => !variants.includes(stream));
  if (variants.length === 0) throw new TypeError('No stream');
  const heard = audio.map(rateOf);
  const highest = (rates: readonly number[]) => Math.max(0, ...rates);
  const media = audio.map((stream, index) => [
    'TYPE=AUDIO',
    `GROUP-ID="${AUDIO_GROUP}"`,
    // Quotes cannot be escaped (§4.2).
    `NAME="${stream.sound?.name.replaceAll('"', "'") ?? 'Audio'}"`,
    ...(stream.sound?.language ? [`LANGUAGE="${stream.sound.language}"`] : []),
    `DEFAULT=${index === 0 ? 'YES' : 'NO'}`,
    'AUTOSELECT=YES',
    ...(stream.channels ? [`CHANNELS="${stream.channels}"`] : []),
    `URI="${stream.playlist}"`,
  ]);
  const attributesOf = (variant: ListedStream) => {
    const { resolution, framesPerSecond } = variant;
    const { peak, average } = rateOf(variant);
    const codecs = new Set([variant, ...audio].flatMap((stream) => stream.codecs));
    return [
      // The sum of the peaks is the largest that playing both can reach (§4.3.4.2).
      `BANDWIDTH=${peak + highest(heard.map((rate) => rate.peak))}`,
      `AVERAGE-BANDWIDTH=${average + highest(heard.map((rate) => rate.average))}`,
      `CODECS="${[...codecs].join(',')}"`,
      ...(resolution ? [`RESOLUTION=${resolution.width}x${resolution.height}`] : []),
      ...(framesPerSecond ? [`FRAME-RATE=${framesPerSecond.toFixed(3)}`] : []),
      ...(audio.length > 0 ? [`AUDIO="${AUDIO_GROUP}"`] : []),
    ];
  };
  return lines([
    '#EXTM3U',
    `#EXT-X-VERSION:${VERSION}`,
    ...(streams.every(({ isIndependent }) => isIndependent) ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
    ...(chapters ? [`#EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="${chapters}"`] : []),
    ...media.map((line) => `#EXT-X-MEDIA:${line.join(',')}`),
    ...variants.flatMap((each) => [`#EXT-X-STREAM-INF:${attributesOf(each).join(',')}`, each.playlist]),
  ]);
}

/** The media playlist (RFC 8216 §4.3.3) of a stream: all of its segments, as byte ranges of one file. */
export function writeMediaPlaylist({ initBytes, segments, isIndependent, file }: ListedStream): string {
  return lines([
    '#EXTM3U',
    `#EXT-X-VERSION:${VERSION}`,
    `#EXT-X-TARGETDURATION:${targetSeconds(segments)}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    ...(isIndependent ? ['#EXT-X-INDEPENDENT-SEGMENTS'] : []),
    `#EXT-X-MAP:URI="${file}",BYTERANGE="${initBytes}@0"`,
    ...segments.flatMap(({ offset, bytes, durationSeconds }) => [
      `#EXTINF:${durationSeconds.toFixed(6)},`,
      `#EXT-X-BYTERANGE:${bytes}@${offset}`,
      file,
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

/** The rates of a stream. */
export const rateOf = ({ segments }: Pick<HlsStream, 'segments'>): Bandwidth =>
  bandwidthOf(segments, targetSeconds(segments));

/** No segment, rounded to whole seconds, may be longer (§4.3.3.1). */
const targetSeconds = (segments: HlsStream['segments']): number =>
  segments.reduce((longest, { durationSeconds }) => Math.max(longest, Math.round(durationSeconds)), 1);

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;
