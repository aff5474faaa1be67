import type { SegmentStart } from '@reelay/seekable-media/mpegts/segment-probe';
import { languageCode } from '@reelay/seekable-media/text/text-track';
import type { SoundName } from '@reelay/seekable-media/virtual-mp4';
import { conversions } from '../../../core/conversions/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import { needsRemux } from '../../source/index.ts';
import { remuxContainer } from '../output-formats.ts';

/** An output container, and how FFmpeg copies tracks into it. */
export interface MuxFormat {
  readonly container: 'mp4' | 'webm' | 'opus';
  /** With a leading dot. */
  readonly fileExtension: string;
  readonly mimeType: string;
  /** Whether the arguments depend on the first bytes of the sources: of segments, a playlist says hardly anything. */
  readonly isSegmented: boolean;
  /** FFmpeg's arguments, by the first bytes of the sources. */
  readonly args: (starts?: readonly SegmentStart[]) => MuxArgs;
}

export interface MuxArgs {
  /** Options of the inputs after the first. */
  readonly others: readonly (readonly string[])[];
  /** Options between the inputs and the output. */
  readonly output: readonly string[];
}

/** How an input keeps its offset to the first one. */
interface SyncArgs {
  readonly input: readonly string[];
  readonly output: readonly string[];
}

type Traits = Pick<Track, 'video' | 'audio' | 'delivery' | 'container'>;

/** AAC by RFC 6381 or by name. Some `mp4a` object types are MP3 or AC-3. */
const AAC = /^(aac|mp4a(?!\.(40\.34|6b|69|a5|a6)))/i;
/** Direct files with ADTS or MPEG-TS framing. */
const FRAMED = /^(ts|mts|m2ts|aac|adts)$/i;
/** Direct files with timestamps relative to the presentation: the offset between two of them is intended. */
const ZERO_BASED = /^(mp4|m4a|m4v|mov|webm|weba|mkv|mka)$/i;
/** Beyond this offset, two tracks have unrelated clocks. A live playlist may be three segments ahead of the other. */
const MAX_OFFSET_SECONDS = 30;
/** Audio that starts earlier by more than codec priming is content; with negative timestamps players would drop it. */
const PRIMING_SECONDS = 0.1;
const SYNCHRONIZED: SyncArgs = { input: ['-isync', '0'], output: [] };
const UNSYNCHRONIZED: SyncArgs = { input: [], output: [] };
/** Microseconds. Without keyframes nothing else ends a fragment before the end of the file. */
const AUDIO_FRAGMENT_US = '2000000';
/** Bounds on fragments of video with rare keyframes: bytes of memory, microseconds of delay. */
const VIDEO_FRAGMENT_LIMITS = ['-frag_size', String(16 * 1024 * 1024), '-frag_duration', '8000000'];
/**
 * `delay_moov`: the header is written with the first fragment, when the codec configuration of AC-3 and ADTS frames and
 * the offset between the tracks are known; unsupported input fails before the first byte.
 */
const MOVFLAGS = ['empty_moov', 'default_base_moof', 'delay_moov'];
/** Copies tracks and their languages, without the source's global metadata and chapters. */
const COPY = ['-c', 'copy', '-map_metadata:g', '-1', '-map_chapters', '-1', '-strict', 'experimental'];
const WEBM = ['-live', '1', '-f', 'webm'];

/**
 * The format for the tracks of a rendition.
 * @param container for the audio alone. Absent: MP4, or WebM
 * @param comments of that file, as `NAME=value`
 */
export function selectFormat(found: PairTraits, container?: 'opus', comments?: readonly string[]): MuxFormat {
  if (found.tracks.length > 1) return selectPairFormat(found);
  return container ? selectAudioFormat(container, found.tracks[0], comments) : selectRemuxFormat(found.tracks[0]);
}

/** The format for the audio of one input. @param comments of the file, as `NAME=value` */
const selectAudioFormat = (container: 'opus', track: Traits, comments: readonly string[] = []): MuxFormat => ({
  ...conversions[container],
  container,
  isSegmented: needsRemux(track),
  args: () => ({
    others: [],
    output: [
      ...['-map', '0:a:0', '-c', 'copy', '-map_metadata', '-1', '-map_chapters', '-1', '-fflags', '+bitexact'],
      ...comments.flatMap((comment) => ['-metadata', comment]),
      ...['-f', container],
    ],
  }),
});

/** The format for one input with video, audio or both. */
export function selectRemuxFormat(track: Traits): MuxFormat {
  const { video, audio } = track;
  const maps = [...(video ? mapOf('0:v:0', video) : []), ...(audio ? mapOf('0:a:0', audio) : [])];
  const side = video ? 'video' : 'audio';
  const common = { isSegmented: needsRemux(track) };
  if (remuxContainer(track) === 'webm') {
    const args = () => ({ others: [], output: [...maps, ...COPY, ...WEBM] });
    return { ...common, container: 'webm', fileExtension: '.webm', mimeType: `${side}/webm`, args };
  }
  return {
    ...common,
    container: 'mp4',
    fileExtension: video ? '.mp4' : '.m4a',
    mimeType: `${side}/mp4`,
    args: ([start] = []) => ({
      others: [],
      output: [...maps, ...COPY, ...mp4Args(video !== null, [isAdts(track, start)])],
    }),
  };
}

export const COMBINED = { container: 'mp4', fileExtension: '.mp4', mimeType: 'video/mp4' } as const;

/** What the inputs are, and what the audio is called. Absent: as in the inputs. */
interface PairTraits extends Pick<KeyedRendition, 'sounds'> {
  readonly tracks: readonly [Traits, ...Traits[]];
}

/** The format for the video of the first input and the audio of the others, of which the first plays by itself. */
export const selectPairFormat = ({ tracks: [video, ...audio], sounds = [] }: PairTraits): MuxFormat => ({
  ...COMBINED,
  isSegmented: [video, ...audio].some(needsRemux),
  args: ([first, ...starts] = []) => {
    const syncs = audio.map((each, index) =>
      [video, each].every(isZeroBased) ? SYNCHRONIZED : syncArgs(first?.startSeconds, starts[index]?.startSeconds),
    );
    const maps = audio.flatMap((_, index) => ['-map', `${index + 1}:a:0`]);
    const adts = audio.map((each, index) => isAdts(each, starts[index]));
    return {
      others: syncs.map(({ input }) => input),
      output: [
        ...['-map', '0:v:0', ...maps, ...COPY, ...sounds.flatMap(nameArgs)],
        ...(syncs.find(({ output }) => output.length > 0)?.output ?? []),
        ...mp4Args(true, adts),
      ],
    };
  },
});

/** Metadata and disposition of a stream of audio. Without a shell, a name needs no quotes. */
const nameArgs = ({ language = 'und', name }: SoundName, index: number): readonly string[] => [
  ...[`-metadata:s:a:${index}`, `language=${languageCode(language)}`],
  ...[`-metadata:s:a:${index}`, `title=${name}`, `-metadata:s:a:${index}`, `handler_name=${name}`],
  ...[`-disposition:a:${index}`, index === 0 ? 'default' : '0'],
];

/** A stream that is not certain to exist is optional (`?`); without any stream FFmpeg fails. */
const mapOf = (stream: string, { codec }: { readonly codec?: string }) => [
  '-map',
  codec === undefined ? `${stream}?` : stream,
];

const isZeroBased = (track: Traits) => !needsRemux(track) && ZERO_BASED.test(track.container);

/** By default FFmpeg shifts each input to start at 0, which loses the offset between tracks of one clock. */
function syncArgs(video: number | undefined, audio: number | undefined): SyncArgs {
  const offset = video === undefined || audio === undefined ? Number.NaN : audio - video;
  if (!(Math.abs(offset) <= MAX_OFFSET_SECONDS)) return UNSYNCHRONIZED;
  return offset < -PRIMING_SECONDS ? { ...SYNCHRONIZED, output: ['-avoid_negative_ts', 'make_zero'] } : SYNCHRONIZED;
}

/**
 * Whether the audio is AAC in ADTS frames, which FFmpeg converts by itself only for seekable output. An unknown codec is
 * assumed to be AAC.
 */
const isAdts = (track: Traits, start: SegmentStart | undefined): boolean =>
  track.audio !== null &&
  (start?.isFramedAac ?? ((needsRemux(track) || FRAMED.test(track.container)) && AAC.test(track.audio.codec ?? 'aac')));

/** @param areAdts by stream of audio */
function mp4Args(hasVideo: boolean, areAdts: readonly boolean[]): string[] {
  const flags = hasVideo ? [...MOVFLAGS, 'frag_keyframe'] : MOVFLAGS;
  const limits = hasVideo ? VIDEO_FRAGMENT_LIMITS : ['-frag_duration', AUDIO_FRAGMENT_US];
  const bitstreamFilters = areAdts.flatMap((isAdts, index) => (isAdts ? [`-bsf:a:${index}`, 'aac_adtstoasc'] : []));
  return [...bitstreamFilters, '-movflags', flags.join('+'), ...limits, '-f', 'mp4'];
}
