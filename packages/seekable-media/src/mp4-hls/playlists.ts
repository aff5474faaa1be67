import type { Chapter } from '../parts/chapters.ts';
import type { SoundName } from '../virtual-mp4/index.ts';
import type { HlsStream } from './hls-layout.ts';
import { type Bandwidth, bandwidthOf } from './segments.ts';

/** A stream with the URIs of its files, relative to what lists it. */
export interface ListedStream extends HlsStream {
  /** The file that its byte ranges count in. */
  readonly file: string;
  readonly playlist: string;
}

/** Subtitles, which are one file of WebVTT, with the URIs of it and of its playlist. */
export interface ListedText extends SoundName {
  readonly file: string;
  readonly playlist: string;
  /** Whether a player may choose it by its language alone: of those that have the same, the first one. */
  readonly isFirst: boolean;
}

/**
 * Byte ranges in `EXT-X-MAP` of a playlist without `EXT-X-I-FRAMES-ONLY` need version 6, floating-point durations 3
 * (RFC 8216 §7).
 */
const VERSION = 7;
const AUDIO_GROUP = 'audio';
const TEXT_GROUP = 'subtitles';
/** Of DASH (ISO/IEC 23009-1 §5.8.5.5). */
export const TEXT_ROLE = 'subtitle';

/**
 * The master playlist (RFC 8216 §4.3.4): each video is a variant stream, with each audio as a rendition where it is a stream
 * of its own. The first one of both plays unless another is chosen, and no subtitles.
 * @param chapters the URI of what `writeHlsChapters` writes. Absent: there are none
 */
export function writeMasterPlaylist(
  streams: readonly ListedStream[],
  texts: readonly ListedText[] = [],
  chapters?: string,
): string {
  const shown = streams.filter(({ kind }) => kind !== 'audio');
  const variants = shown.length > 0 ? shown : streams.slice(0, 1);
  const audio = streams.filter((stream) => !variants.includes(stream));
  if (variants.length === 0) throw new TypeError('No stream');
  const heard = audio.map(rateOf);
  const highest = (rates: readonly number[]) => Math.max(0, ...rates);
  const sounds = nameAttributes(audio.map(({ sound }) => sound ?? { name: 'Audio' }));
  const titles = nameAttributes(texts);
  const media = [
    ...audio.map((stream, index) => [
      ...['TYPE=AUDIO', `GROUP-ID="${AUDIO_GROUP}"`, ...(sounds[index] ?? [])],
      `DEFAULT=${index === 0 ? 'YES' : 'NO'}`,
      'AUTOSELECT=YES',
      ...(stream.channels ? [`CHANNELS="${stream.channels}"`] : []),
      `URI="${stream.playlist}"`,
    ]),
    ...texts.map((text, index) => [
      ...['TYPE=SUBTITLES', `GROUP-ID="${TEXT_GROUP}"`, ...(titles[index] ?? []), 'DEFAULT=NO'],
      `AUTOSELECT=${text.isFirst ? 'YES' : 'NO'}`,
      `URI="${text.playlist}"`,
    ]),
  ];
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
      ...(texts.length > 0 ? [`SUBTITLES="${TEXT_GROUP}"`] : []),
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

/** The media playlist of subtitles: one file, as long as the stream that they belong to. */
export function writeTextPlaylist({ segments }: HlsStream, file: string): string {
  const seconds = segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  return lines([
    ...['#EXTM3U', `#EXT-X-VERSION:${VERSION}`, `#EXT-X-TARGETDURATION:${Math.max(1, Math.round(seconds))}`],
    ...['#EXT-X-MEDIA-SEQUENCE:0', '#EXT-X-PLAYLIST-TYPE:VOD', `#EXTINF:${seconds.toFixed(6)},`, file],
    '#EXT-X-ENDLIST',
  ]);
}

/**
 * WebVTT whose times count from the first sample of a stream (§3.5).
 * @param webVtt as `writeSubtitles` writes it
 */
export const mapToStream = (webVtt: string, { startSeconds }: HlsStream): string =>
  webVtt.replace(
    'WEBVTT\n',
    () => `WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:${Math.round(startSeconds * 90_000) % 2 ** 33},LOCAL:00:00:00.000\n`,
  );

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

/** Attributes of the members of a group, whose names must differ (RFC 8216 §4.3.4.1.1). */
function nameAttributes(members: readonly SoundName[]): readonly (readonly string[])[] {
  const names = new Set<string>();
  return members.map(({ name, language }) => {
    const title = quotable(name);
    let unique = title;
    for (let number = 2; names.has(unique); number++) unique = `${title} ${number}`;
    names.add(unique);
    return [`NAME="${unique}"`, ...(language ? [`LANGUAGE="${quotable(language)}"`] : [])];
  });
}

/** What a quoted string can hold: neither quotes nor line breaks, which cannot be escaped (§4.2), nor other controls (§4.1). */
const quotable = (text: string): string =>
  text
    .replaceAll('"', "'")
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .normalize('NFC');

const lines = (all: readonly string[]): string => `${all.join('\n')}\n`;
