import type { SegmentStart } from '../../core/media/segment-probe/index.ts';
import type { Track } from '../../core/state/index.ts';
import { needsRemux } from '../source/index.ts';

/** What FFmpeg is told to write, and what it is called. */
export interface MuxPlan {
  readonly container: 'mp4' | 'webm';
  /** With a leading dot. */
  readonly fileExtension: string;
  readonly mimeType: string;
  /** Whether to look at how the sources begin: they are segments, of which hardly more is known than a list. */
  readonly isSegmented: boolean;
  /** What to tell FFmpeg, by how the sources begin. */
  readonly args: (beginnings?: readonly SegmentStart[]) => MuxArgs;
}

export interface MuxArgs {
  /** Options of the second input. */
  readonly second: readonly string[];
  /** Options between the inputs and the output. */
  readonly output: readonly string[];
}

type Traits = Pick<Track, 'video' | 'audio' | 'delivery' | 'container'>;

/** Codecs that MP4 has no place for; WebM does. */
const WEBM_ONLY = /^(vp8|vp08|vorbis)/i;
/** AAC by RFC 6381 or by name; some `mp4a` are MP3 or AC-3. */
const AAC = /^(aac|mp4a(?!\.(40\.34|6b|69|a5|a6)))/i;
/** Direct files whose frames carry what an MP4 says once, at its beginning. */
const FRAMED = /^(ts|mts|m2ts|aac|adts)$/i;
/** Direct files whose clock begins with what they belong to: how far apart two of them begin is meant. */
const ZERO_BASED = /^(mp4|m4a|m4v|mov|webm|weba|mkv|mka)$/i;
/** Tracks of one source that begin further apart have clocks of their own. A live list may be three segments ahead. */
const MAX_APART_SECONDS = 30;
/** Sound that begins earlier by more than its codec needs to settle is worth hearing: else players cut it off. */
const PRIMING_SECONDS = 0.1;
const IN_STEP: MuxArgs = { second: ['-isync', '0'], output: [] };
const OUT_OF_STEP: MuxArgs = { second: [], output: [] };
/** Without video nothing else would end a fragment before the end of the file: microseconds. */
const AUDIO_FRAGMENT = '2000000';
/** A video with hardly a keyframe must not be held back until the next one: bytes of memory, microseconds of waiting. */
const VIDEO_BOUNDS = ['-frag_size', String(16 * 1024 * 1024), '-frag_duration', '8000000'];
/**
 * The header comes with the first fragment: only then it can say what the frames of AC-3 and of framed AAC carry, and by
 * how much the tracks begin apart; and what cannot be written fails before the first byte.
 */
const FLAGS = ['empty_moov', 'default_base_moof', 'delay_moov'];
/** The tracks and their language; what the source's container says of itself is not ours to pass on. */
const COPY = ['-c', 'copy', '-map_metadata:g', '-1', '-map_chapters', '-1', '-strict', 'experimental'];
const WEBM = ['-live', '1', '-f', 'webm'];

/** One track from one input, whatever sides it has. */
export function remuxPlan(track: Traits): MuxPlan {
  const { video, audio } = track;
  const maps = [...(video ? mapOf('0:v:0', video) : []), ...(audio ? mapOf('0:a:0', audio) : [])];
  const side = video ? 'video' : 'audio';
  const common = { isSegmented: needsRemux(track) };
  if ([video?.codec, audio?.codec].some((codec) => codec !== undefined && WEBM_ONLY.test(codec))) {
    const args = () => ({ second: [], output: [...maps, ...COPY, ...WEBM] });
    return { ...common, container: 'webm', fileExtension: '.webm', mimeType: `${side}/webm`, args };
  }
  return {
    ...common,
    container: 'mp4',
    fileExtension: video ? '.mp4' : '.m4a',
    mimeType: `${side}/mp4`,
    args: ([beginning] = []) => ({
      second: [],
      output: [...maps, ...COPY, ...mp4Args(video !== null, isFramedAac(track, beginning))],
    }),
  };
}

export const COMBINED = { container: 'mp4', fileExtension: '.mp4', mimeType: 'video/mp4' } as const;

/** The video of the first input and the audio of the second. */
export const combinedPlan = (video: Traits, audio: Traits): MuxPlan => ({
  ...COMBINED,
  isSegmented: [video, audio].some(needsRemux),
  args: ([first, second] = []) => {
    const sync = [video, audio].every(countsFromZero) ? IN_STEP : syncArgs(first?.startSeconds, second?.startSeconds);
    const maps = ['-map', '0:v:0', '-map', '1:a:0'];
    return {
      second: sync.second,
      output: [...maps, ...COPY, ...sync.output, ...mp4Args(true, isFramedAac(audio, second))],
    };
  },
});

/** What a source only may have must not end it all; without any track FFmpeg fails. */
const mapOf = (place: string, { codec }: { readonly codec?: string }) => [
  '-map',
  codec === undefined ? `${place}?` : place,
];

const countsFromZero = (track: Traits) => !needsRemux(track) && ZERO_BASED.test(track.container);

/** By itself FFmpeg begins every input at 0, however far apart they begin on the clock that they share. */
function syncArgs(video: number | undefined, audio: number | undefined): MuxArgs {
  const apart = video === undefined || audio === undefined ? Number.NaN : audio - video;
  if (!(Math.abs(apart) <= MAX_APART_SECONDS)) return OUT_OF_STEP;
  return apart < -PRIMING_SECONDS ? { ...IN_STEP, output: ['-avoid_negative_ts', 'make_zero'] } : IN_STEP;
}

/**
 * Whether the audio comes as ADTS frames. FFmpeg unpacks them by itself only into files it can go back in. What does
 * not say has AAC in all likelihood.
 */
const isFramedAac = (track: Traits, beginning: SegmentStart | undefined): boolean =>
  track.audio !== null &&
  (beginning?.isFramedAac ??
    ((needsRemux(track) || FRAMED.test(track.container)) && AAC.test(track.audio.codec ?? 'aac')));

function mp4Args(hasVideo: boolean, framedAac: boolean): string[] {
  const flags = hasVideo ? [...FLAGS, 'frag_keyframe'] : FLAGS;
  const bound = hasVideo ? VIDEO_BOUNDS : ['-frag_duration', AUDIO_FRAGMENT];
  const unpack = framedAac ? ['-bsf:a', 'aac_adtstoasc'] : [];
  return [...unpack, '-movflags', flags.join('+'), ...bound, '-f', 'mp4'];
}
