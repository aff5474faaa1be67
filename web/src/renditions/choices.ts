import type { MediaInformation, MediaRendition, StreamReference } from '../api/index.ts';
import { fileNameOf, type Naming } from './file-name.ts';

export type ChoiceGroup = 'video' | 'audio' | 'mp3';

/** One downloadable rendition as shown in the page. */
export interface Choice {
  /** Stable for the same rendition; unique within an item. */
  readonly id: string;
  readonly group: ChoiceGroup;
  /** `1080p`, `129 kbps`. */
  readonly label: string;
  readonly description: string | null;
  /** In upper case: `MP4`. */
  readonly container: string;
  readonly sizeBytes?: number;
  /** The size is a sum or the source's estimate. */
  readonly isSizeEstimate: boolean;
  /** Pixels. */
  readonly height?: number;
  /** kbit/s. */
  readonly bitrate?: number;
  /** Plays on any device of the last ten years, as far as its description tells. */
  readonly playsEverywhere: boolean;
  /** The best of its group. */
  readonly isBest: boolean;
  /** Supports ranges. False for combined streams; undefined until a HEAD request for others. */
  readonly canSeek?: boolean;
  readonly isMuxed: boolean;
  /** The element that plays it. */
  readonly element: 'video' | 'audio';
  readonly mimeType: string;
  /** `Artist - Title.mp4`, valid on every file system. */
  readonly fileName: string;
  /** For `api.streamUrl`. */
  readonly rendition: MediaRendition;
}

export interface Choices {
  /** Best first; empty when there are none. */
  readonly video: readonly Choice[];
  readonly audio: readonly Choice[];
  readonly mp3: readonly Choice[];
  /** What is chosen until the user chooses: the best video, else the best audio, else the conversion. */
  readonly preselected?: Choice;
}

/** Containers that every browser and player opens. */
const COMMON_CONTAINERS = ['mp4', 'm4a', 'mp3', 'aac', 'm4v'];
/** Codecs, as descriptions name them, that some devices of the last ten years lack. */
const UNCOMMON_CODECS = /\b(?:av0?1|vp0?[89]|hevc|h\.?265|hvc1|hev1|dvh1|opus|vorbis|flac|e?ac-?3|dts)\b/i;
/** H.264 is rarely used above this height. */
const MAX_COMMON_HEIGHT = 1440;

/** The choices of an item. Renditions without a key and duplicates are omitted. */
export function choicesOf({ title, author, video, audio }: MediaInformation): Choices {
  const naming = { title, author };
  const videos = group('video', video, naming);
  const sounds = group('audio', audio, naming);
  const mp3 = group('mp3', audio, naming);
  const preselected = videos[0] ?? sounds[0] ?? mp3[0];
  return { video: videos, audio: sounds, mp3, preselected };
}

function group(name: ChoiceGroup, reference: StreamReference | undefined, naming: Naming): Choice[] {
  const renditions = (reference?.renditions ?? []).filter(
    ({ key, convertTo }) => key && (name === 'video' || Boolean(convertTo) === (name === 'mp3')),
  );
  const choices = renditions.map((rendition, index) => choice(name, rendition, index === 0, naming));
  return choices.filter(({ id }, index) => choices.findIndex((other) => other.id === id) === index);
}

function choice(name: ChoiceGroup, rendition: MediaRendition, isBest: boolean, naming: Naming): Choice {
  const extension = rendition.fileExtension ?? '';
  const container = extension.replace(/^\./, '').toUpperCase();
  const isMuxed = rendition.urlType === 'Combined';
  const size = rendition.fileSizeBytes;
  return {
    id: `${name}:${rendition.key}`,
    group: name,
    label: rendition.label || container,
    description: rendition.description || null,
    container,
    ...(isFigure(size) && { sizeBytes: size }),
    // A conversion's size is exact; a combined stream's is a sum.
    isSizeEstimate: isMuxed,
    ...(isFigure(rendition.height) && { height: rendition.height }),
    ...(isFigure(rendition.bitrate) && { bitrate: rendition.bitrate }),
    playsEverywhere: playsEverywhere(rendition, container),
    isBest,
    ...(isMuxed && { canSeek: false }),
    isMuxed,
    element: name === 'video' ? 'video' : 'audio',
    mimeType: rendition.mimeType ?? (name === 'video' ? 'video/mp4' : 'audio/mpeg'),
    fileName: fileNameOf(naming, extension),
    rendition,
  };
}

/** The contract has no codec field: decides by container, description, MIME type and height. */
const playsEverywhere = ({ description, mimeType, height }: MediaRendition, container: string): boolean =>
  COMMON_CONTAINERS.includes(container.toLowerCase()) &&
  !UNCOMMON_CODECS.test(`${description ?? ''} ${mimeType ?? ''}`) &&
  (height ?? 0) <= MAX_COMMON_HEIGHT;

const isFigure = (value: number | null | undefined): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
