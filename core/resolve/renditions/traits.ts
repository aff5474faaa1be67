import { audioFamily, type FileType, fileType, videoFamily } from '@reelay/seekable-media/codecs';
import { capabilitiesOf, type Track } from '../../state/index.ts';
import type { Candidate } from '../yt-dlp/index.ts';

/** A format with video, and the audio that it is muxed with. */
export interface VideoCandidate extends Candidate {
  readonly partner?: Candidate;
}

/** File formats by how many players support them, best first; any other is below. */
const CONTAINERS = [/^(?:mp4|m4v)$/, /^(?:webm|mov)$/];

/** Above this, devices that decode H.264 in hardware are rare. Pixels of the shorter side. */
const MAX_COMPATIBLE_HEIGHT = 1440;
const COMPATIBLE_EXTENSIONS = ['.mp4', '.m4v', '.m4a', '.mp3', '.aac'];
/** A yt-dlp `preference` at or below this marks a format as damaged or unplayable. */
export const DAMAGED_PREFERENCE = -10;
/** yt-dlp's default `language_preference`: a lower one is a dub or an audio description. */
const UNSPECIFIED_LANGUAGE_PREFERENCE = -1;
/** Codecs, or of files without a named one their containers, that lose nothing, and those of them that compress. */
const LOSSLESS = /^(?:pcm(?!_(?:mu|a)law)|lpcm|sowt|twos|wav|aiff?|flac|alac)/i;
const COMPRESSED_LOSSLESS = /^(?:flac|alac)/i;

/** By how many players support a container; lower is better. */
export function containerRank(container: string): number {
  const index = CONTAINERS.findIndex((pattern) => pattern.test(container));
  return index < 0 ? CONTAINERS.length : index;
}

/**
 * The figure that names a resolution (`1080p`): the shorter side in pixels, so that vertical video compares with
 * horizontal.
 */
export function shorterSide({ video }: Pick<Track, 'video'>): number | undefined {
  if (!video?.height) return undefined;
  return Math.min(video.height, video.width ?? video.height);
}

/** kbit/s of the audio alone; of a track without separate figures, of the whole track. */
export const audioBitrate = (track: Track): number | undefined => track.audio?.bitrate ?? track.bitrate;

const family = (track: Track) => (track.audio?.codec ? audioFamily(track.audio.codec) : undefined);

export const isOpus = (track: Track): boolean => family(track) === 'opus';

/** Audio of an unknown codec in MP4 is nearly always AAC. */
export const isAac = (track: Track): boolean =>
  family(track) === 'aac' || (!track.audio?.codec && /^(?:mp4|m4a|aac)$/.test(track.container));

/** 2 for FLAC and ALAC, 1 for PCM, which holds the same in more bytes, 0 for what has lost something. */
export function losslessRank({ audio, container }: Track): number {
  const name = audio?.codec ?? container;
  return Number(LOSSLESS.test(name)) + Number(COMPRESSED_LOSSLESS.test(name));
}

/** Segments are sent as MP4, whatever their format is. */
export const outputType = (track: Track): FileType =>
  fileType(capabilitiesOf(track).isFile ? track.container : 'mp4', track.video !== null);

/**
 * Whether any device of the last ten years plays these tracks in a file with this extension. Unknown codecs in MP4 are
 * nearly always H.264 and AAC.
 * @param height pixels of the shorter side
 */
export function playsEverywhere(tracks: readonly Track[], fileExtension: string, height = 0): boolean {
  const isCommon = ({ video, audio }: Track) =>
    (!video?.codec || videoFamily(video.codec) === 'h264') &&
    (!audio?.codec || ['aac', 'mp3'].includes(audioFamily(audio.codec) ?? ''));
  return COMPATIBLE_EXTENSIONS.includes(fileExtension) && height <= MAX_COMPATIBLE_HEIGHT && tracks.every(isCommon);
}

/** Frame rates up to this are usual. */
export const USUAL_FPS = 30;

/** Frames per second beyond the usual in SDR that plays everywhere; 0 otherwise. */
export function compatibleHighFps({ track, partner, isHdr }: VideoCandidate): number {
  const fps = Math.round(track.video?.fps ?? 0);
  if (fps <= USUAL_FPS || isHdr) return 0;
  const tracks = partner ? [track, partner.track] : [track];
  const { fileExtension } = partner ? fileType('mp4', true) : outputType(track);
  return playsEverywhere(tracks, fileExtension, shorterSide(track)) ? fps : 0;
}

/** Whether the host stops it early, or either track of a pair. */
export const stopsEarly = (candidate: VideoCandidate): boolean =>
  [candidate, candidate.partner].some((each) => each?.stopsEarly);

export const isDamaged = ({ preference }: Candidate): boolean => preference <= DAMAGED_PREFERENCE;

/** Whether a format whose audio cannot be replaced has that of another language, or an audio description. */
export const hasForeignAudio = ({ track, languagePreference, isAudioDescription }: Candidate): boolean =>
  track.audio !== null && (isAudioDescription || languagePreference < UNSPECIFIED_LANGUAGE_PREFERENCE);
