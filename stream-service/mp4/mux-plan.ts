import type { Track } from '../../layers/state/index.ts';

/** What FFmpeg is told to write, and what it is called. */
export interface MuxPlan {
  readonly container: 'mp4' | 'webm';
  /** With a leading dot. */
  readonly fileExtension: string;
  readonly mimeType: string;
  /** Options between the inputs and the output. */
  readonly args: readonly string[];
}

type Traits = Pick<Track, 'video' | 'audio' | 'delivery' | 'container'>;

/** Codecs that MP4 has no place for; WebM does. */
const WEBM_ONLY = /^(vp8|vp08|vorbis)/i;
/** AAC by RFC 6381 or by name; some `mp4a` are MP3 or AC-3. */
const AAC = /^(aac|mp4a(?!\.(40\.34|6b|69|a5|a6)))/i;
/** Direct files whose frames carry what an MP4 says once, at its beginning. */
const FRAMED = /^(ts|mts|m2ts|aac|adts)$/i;
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
  const maps = [...(video ? ['-map', '0:v:0'] : []), ...(audio ? ['-map', '0:a:0'] : [])];
  const side = video ? 'video' : 'audio';
  if ([video?.codec, audio?.codec].some((codec) => codec !== undefined && WEBM_ONLY.test(codec))) {
    return { container: 'webm', fileExtension: '.webm', mimeType: `${side}/webm`, args: [...maps, ...COPY, ...WEBM] };
  }
  return {
    container: 'mp4',
    fileExtension: video ? '.mp4' : '.m4a',
    mimeType: `${side}/mp4`,
    args: [...maps, ...COPY, ...mp4Args(video !== null, mayBeFramedAac(track))],
  };
}

export const COMBINED = { container: 'mp4', fileExtension: '.mp4', mimeType: 'video/mp4' } as const;

/** The video of the first input and the audio of the second. */
export const combinedPlan = (audio: Traits): MuxPlan => ({
  ...COMBINED,
  args: ['-map', '0:v:0', '-map', '1:a:0', ...COPY, ...mp4Args(true, mayBeFramedAac(audio))],
});

/**
 * Whether the audio may come as ADTS frames. FFmpeg unpacks them by itself only into files it can go back in. HLS whose
 * codec nobody knows has AAC in all likelihood.
 */
const mayBeFramedAac = ({ audio, delivery, container }: Traits): boolean =>
  audio !== null && (delivery !== 'direct' || FRAMED.test(container)) && AAC.test(audio.codec ?? 'aac');

function mp4Args(hasVideo: boolean, framedAac: boolean): string[] {
  const flags = hasVideo ? [...FLAGS, 'frag_keyframe'] : FLAGS;
  const bound = hasVideo ? VIDEO_BOUNDS : ['-frag_duration', AUDIO_FRAGMENT];
  const unpack = framedAac ? ['-bsf:a', 'aac_adtstoasc'] : [];
  return [...unpack, '-movflags', flags.join('+'), ...bound, '-f', 'mp4'];
}
