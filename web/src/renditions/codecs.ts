import type { Choice, ChoiceGroup, ChoiceRendition } from './choice.ts';

interface Codec {
  /** As shown in the page. */
  readonly name: string;
  /** Matches names and RFC 6381 tags in descriptions and MIME types. */
  readonly pattern: RegExp;
  /** A typical RFC 6381 string, for `canPlayType`. */
  readonly tag: string;
  readonly kind: ChoiceGroup;
  /** Whether any device of the last ten years plays it. */
  readonly isCommon?: boolean;
}

const CODECS: readonly Codec[] = [
  { name: 'H.264', pattern: /\b(?:avc[13]?|h\.?264)\b/i, tag: 'avc1.640028', kind: 'video', isCommon: true },
  { name: 'H.265', pattern: /\b(?:hevc|h\.?265|hvc1|hev1)\b/i, tag: 'hvc1.1.6.L120.90', kind: 'video' },
  { name: 'Dolby Vision', pattern: /\bdvh[1e]\b/i, tag: 'dvh1.05.06', kind: 'video' },
  { name: 'AV1', pattern: /\bav0?1\b/i, tag: 'av01.0.08M.08', kind: 'video' },
  { name: 'VP9', pattern: /\bvp0?9\b/i, tag: 'vp09.00.40.08', kind: 'video' },
  { name: 'VP8', pattern: /\bvp0?8\b/i, tag: 'vp8', kind: 'video' },
  { name: 'AAC', pattern: /\b(?:aac|mp4a)\b/i, tag: 'mp4a.40.2', kind: 'audio', isCommon: true },
  { name: 'MP3', pattern: /\bmp3\b/i, tag: 'mp3', kind: 'audio', isCommon: true },
  { name: 'Opus', pattern: /\bopus\b/i, tag: 'opus', kind: 'audio' },
  { name: 'Vorbis', pattern: /\bvorbis\b/i, tag: 'vorbis', kind: 'audio' },
  { name: 'FLAC', pattern: /\bflac\b/i, tag: 'flac', kind: 'audio' },
  { name: 'Dolby Digital', pattern: /\be?-?ac-?3\b/i, tag: 'ec-3', kind: 'audio' },
  { name: 'DTS', pattern: /\bdts\b/i, tag: 'dtsc', kind: 'audio' },
];

/** Containers that every browser and player opens. */
const COMMON_CONTAINERS = ['mp4', 'm4a', 'mp3', 'aac', 'm4v', 'wav'];
/** H.264 is rarely used above this height. */
const MAX_COMMON_HEIGHT = 1440;

/** Flaws as the service and yt-dlp name them in descriptions. */
const FLAWED =
  /\b(?:first minute|possibly DRM protected|for browsers only|damaged|unplayable|AI-upscaled|voice boost|(?<!un|un-|no |non-)watermarked|dubbed|DRC|descriptive|audio.descri\w+)\b/i;

/** Facts that the API has no fields for: they are read from descriptions and MIME types. */
type CodecFacts = Pick<Choice, 'codec' | 'playsEverywhere' | 'playsHere' | 'isFlawed'>;

/** Whether a browser plays a MIME type, parameters included. */
export type CanPlay = (mimeType: string) => boolean;

const answers = new Map<string, boolean>();

/** Asks the current browser, once per type because lists are long; true outside of a browser. */
const canPlayInBrowser: CanPlay = (mimeType) => {
  const plays = () => document.createElement('video').canPlayType(mimeType) !== '';
  const answer = answers.get(mimeType) ?? (globalThis.document === undefined || plays());
  answers.set(mimeType, answer);
  return answer;
};

const codecsIn = ({ description, mimeType }: ChoiceRendition): readonly Codec[] => {
  const text = `${description ?? ''} ${mimeType}`;
  return CODECS.filter(({ pattern }) => pattern.test(text));
};

/** `H.264`, `Opus`; undefined when nothing names one. */
export const codecOf = (rendition: ChoiceRendition, kind: ChoiceGroup): string | undefined =>
  codecsIn(rendition).find((codec) => codec.kind === kind)?.name;

/** The contract has no codec field: reads container, description, MIME type and height. */
export function codecFacts(
  rendition: ChoiceRendition,
  kind: ChoiceGroup,
  canPlay: CanPlay = canPlayInBrowser,
): CodecFacts {
  const { description, mimeType, fileExtension, height } = rendition;
  const found = codecsIn(rendition);
  const container = fileExtension.replace(/^\./, '').toLowerCase();
  const type = mimeType.split(';', 1)[0] || `${kind}/${container}`;
  const tags = found.map(({ tag }) => tag).join(', ');
  return {
    codec: codecOf(rendition, kind),
    isFlawed: FLAWED.test(description ?? '') || undefined,
    playsEverywhere:
      COMMON_CONTAINERS.includes(container) &&
      found.every(({ isCommon }) => isCommon) &&
      (height ?? 0) <= MAX_COMMON_HEIGHT,
    playsHere: canPlay(tags ? `${type}; codecs="${tags}"` : type),
  };
}
