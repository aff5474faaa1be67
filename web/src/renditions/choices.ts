import type { MediaInformation, MediaRendition, StreamReference } from '../api/index.ts';
import { fileNameOf, type Naming } from './file-name.ts';

export type ChoiceGroup = 'video' | 'audio' | 'mp3';

/** One thing that can be taken. */
export interface Choice {
  /** Stable for the same rendition; unique within an item. */
  readonly id: string;
  readonly group: ChoiceGroup;
  /** `1080p`, `129 kbps`. */
  readonly label: string;
  readonly description: string | null;
  /** In capitals: `MP4`. */
  readonly container: string;
  readonly sizeBytes?: number;
  /** The size is a sum or what the source estimates. */
  readonly isSizeEstimate: boolean;
  /** Pixels. */
  readonly height?: number;
  /** kbit/s. */
  readonly bitrate?: number;
  /** As far as its description tells, any device of the last ten years plays it. */
  readonly playsEverywhere: boolean;
  /** The best of its group. */
  readonly isBest: boolean;
  /** A player can seek and a download can be resumed. Muxed streams cannot; absent of others, until they are asked. */
  readonly canSeek?: boolean;
  readonly isMuxed: boolean;
  /** `video` or `audio`: the element that plays it. */
  readonly element: 'video' | 'audio';
  readonly mimeType: string;
  /** `Artist - Title.mp4`, as a file system takes it. */
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

/** Containers that every browser and player opens, whatever device it runs on. */
const COMMON_CONTAINERS = ['mp4', 'm4a', 'mp3', 'aac', 'm4v'];
/** Codecs, as descriptions name them, that some devices of the last ten years do not play. */
const UNCOMMON_CODECS = /\b(?:av0?1|vp0?[89]|hevc|h\.?265|hvc1|hev1|dvh1|opus|vorbis|flac|e?ac-?3|dts)\b/i;
/** What H.264 is hardly ever made in. */
const MAX_COMMON_HEIGHT = 1440;

/** What is offered of an item. Renditions without a key are left out, and what comes twice comes once. */
export function choicesOf({ title, author, video, audio }: MediaInformation): Choices {
  const naming = { title, author };
  const videos = group('video', video, naming);
  const sounds = group('audio', audio, naming);
  const mp3 = group('mp3', audio, naming);
  const preselected = videos[0] ?? sounds[0] ?? mp3[0];
  return { video: videos, audio: sounds, mp3, ...(preselected && { preselected }) };
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
    // The service promises the length of a conversion; what a source says of its own files is not always so.
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

/** The contract names no codec: the container must be common, and neither the words nor the height say otherwise. */
const playsEverywhere = ({ description, mimeType, height }: MediaRendition, container: string): boolean =>
  COMMON_CONTAINERS.includes(container.toLowerCase()) &&
  !UNCOMMON_CODECS.test(`${description ?? ''} ${mimeType ?? ''}`) &&
  (height ?? 0) <= MAX_COMMON_HEIGHT;

const isFigure = (value: number | null | undefined): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
