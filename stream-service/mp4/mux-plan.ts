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

/** Codecs that MP4 has no place for; WebM does. */
const WEBM_ONLY = /^(vp8|vp08|vorbis)/i;
/** Without video nothing else would end a fragment before the end of the file: microseconds. */
const AUDIO_FRAGMENT = '2000000';
/** A video with hardly a keyframe must not be held in memory until the next one: bytes. */
const MAX_FRAGMENT_BYTES = String(16 * 1024 * 1024);
/** Nothing but the tracks: what the source's container says of itself is not ours to pass on. */
const COPY = ['-c', 'copy', '-map_metadata:g', '-1', '-map_chapters', '-1', '-strict', 'experimental'];

/** One track from one input, whatever sides it has. */
export function remuxPlan({ video, audio }: Pick<Track, 'video' | 'audio'>): MuxPlan {
  const maps = [...(video ? ['-map', '0:v:0'] : []), ...(audio ? ['-map', '0:a:0'] : [])];
  const side = video ? 'video' : 'audio';
  if ([video?.codec, audio?.codec].some((codec) => codec !== undefined && WEBM_ONLY.test(codec))) {
    return { container: 'webm', fileExtension: '.webm', mimeType: `${side}/webm`, args: [...maps, ...COPY, ...WEBM] };
  }
  const format = mp4(video !== null);
  return {
    container: 'mp4',
    fileExtension: video ? '.mp4' : '.m4a',
    mimeType: `${side}/mp4`,
    args: [...maps, ...COPY, ...format],
  };
}

/** The video of the first input and the audio of the second. */
export const muxPlan: MuxPlan = {
  container: 'mp4',
  fileExtension: '.mp4',
  mimeType: 'video/mp4',
  args: ['-map', '0:v:0', '-map', '1:a:0', ...COPY, ...mp4(true)],
};

const WEBM = ['-live', '1', '-f', 'webm'];

function mp4(hasVideo: boolean): string[] {
  const flags = `${hasVideo ? 'frag_keyframe+' : ''}empty_moov+default_base_moof`;
  const bound = hasVideo ? ['-frag_size', MAX_FRAGMENT_BYTES] : ['-frag_duration', AUDIO_FRAGMENT];
  return ['-movflags', flags, ...bound, '-f', 'mp4'];
}
