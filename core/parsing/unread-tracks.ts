import { readOggStreams } from '@reelay/seekable-media/ogg';
import { readStreamTypes } from '@reelay/seekable-media/segment-probe';
import { positiveInteger, withoutAbsent } from '@reelay/seekable-media/values';
import { type InputFormat, MPEG_TS, OGG } from 'mediabunny';
import type { Track, VideoTraits } from '../state/index.ts';

/** Stream types of MPEG-TS that mediabunny leaves out (ISO/IEC 13818-1 table 2-34, and registrations of SMPTE and AVS). */
const VIDEO_TYPES = new Map([
  [0x01, 'mpeg1video'],
  [0x02, 'mpeg2video'],
  [0x10, 'mp4v'],
  [0x33, 'vvc'],
  [0x42, 'cavs'],
  [0xd1, 'dirac'],
  [0xd2, 'avs2'],
  [0xea, 'vc1'],
]);
/** AAC in LATM, which MP4 holds only once it is unpacked. */
const AUDIO_TYPES = new Map([[0x11, 'latm']]);

/**
 * The first tracks that a container declares and mediabunny leaves out, as it does with all codecs of Ogg but Vorbis and Opus:
 * without them a film would count as its sound. Containers of other formats list tracks whose codec is unknown.
 * @param head the beginning of the file
 */
export function unreadTracks(format: InputFormat, head: Buffer): Pick<Track, 'video' | 'audio'> {
  if (format === OGG) {
    const streams = readOggStreams(head);
    const video = streams.find(({ kind }) => kind === 'video');
    const audio = streams.find(({ kind }) => kind === 'audio');
    return { video: video ? videoTraits(video) : null, audio: audio ? { codec: audio.codec } : null };
  }
  const types = format === MPEG_TS ? readStreamTypes(head) : [];
  const [video, audio] = [VIDEO_TYPES, AUDIO_TYPES].map((known) => types.flatMap((type) => known.get(type) ?? [])[0]);
  return { video: video ? { codec: video } : null, audio: audio ? { codec: audio } : null };
}

const videoTraits = ({ codec, width, height }: ReturnType<typeof readOggStreams>[number]): VideoTraits =>
  withoutAbsent({ codec, height: positiveInteger(height), width: positiveInteger(width) });

/** Names of codecs in Matroska that differ from those of other containers. */
const MATROSKA_CODECS: readonly (readonly [id: RegExp, codec: string])[] = [
  [/^V_MPEG4\/MS.*/, 'msmpeg4'],
  [/^V_MPEG4\/.*/, 'mp4v'],
  [/^V_MPEG([12])$/, 'mpeg$1video'],
  [/^V_MS\/VFW.*/, 'vfw'],
  [/^A_MPEG\/L([12])$/, 'mp$1'],
  [/^[AV]_(.+)$/, '$1'],
];

/**
 * The codec of a track that mediabunny cannot name, by its id in the container: `mp4v`, `alac`, `V_MPEG2`.
 * @returns undefined for an id that is no name
 */
export function codecName(id: unknown): string | undefined {
  if (typeof id !== 'string') return undefined;
  const [pattern, codec] = MATROSKA_CODECS.find(([known]) => known.test(id)) ?? [/$/, ''];
  const name = id.replace(pattern, codec).trim().toLowerCase();
  return /^[\w.-][\w./ -]{0,31}$/.test(name) ? name : undefined;
}
