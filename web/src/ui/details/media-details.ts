import {
  type Api,
  ApiFailure,
  asFields,
  asList,
  asNumber,
  asRendition,
  asText,
  asWebUrl,
  MAX_RENDITIONS,
  UnexpectedShape,
} from '../../api/index.ts';
import {
  type AudioVersion,
  type DetailedAudio,
  SEGMENT_CATEGORIES,
  type Segment,
  type SegmentCategory,
} from '../../renditions/index.ts';

export interface Chapter {
  readonly title: string | null;
  readonly startSeconds: number;
}

export interface SubtitleInformation {
  readonly key: string;
  /** Usually BCP 47. */
  readonly language: string;
  readonly name: string | null;
  /** Made by speech recognition. */
  readonly isAutomatic: boolean;
}

/** What the page shows of `GET /api/Fetch/GetDetails`. */
export interface MediaDetails {
  readonly coverUrl: string | null;
  readonly durationSeconds: number | null;
  /** Not over yet. */
  readonly isLive: boolean;
  /** Whole seconds until the site serves the media; null when it does. */
  readonly availableInSeconds: number | null;
  readonly description: string | null;
  /** `2026-11-22`. */
  readonly uploadDate: string | null;
  readonly chapters: readonly Chapter[];
  /** Every audio rendition, with those that GetResource leaves out, such as dubs. */
  readonly audio: readonly DetailedAudio[];
  readonly subtitles: readonly SubtitleInformation[];
  /** For the segments that viewers have reported. */
  readonly segmentsKey: string | null;
}

/** More are not shown. */
const MAX_CHAPTERS = 500;
const MAX_SUBTITLES = 500;
const MAX_SEGMENTS = 500;

const asSeconds = (value: unknown): number => asNumber(value) ?? 0;

const asFlag = (value: unknown): boolean => value === true;

const asRequiredText = (value: unknown): string => {
  const text = asText(value);
  if (!text) throw new UnexpectedShape();
  return text;
};

const asChapter = (value: unknown): Chapter => asFields<Chapter>(value, { title: asText, startSeconds: asSeconds });

const asSubtitle = (value: unknown): SubtitleInformation =>
  asFields<SubtitleInformation>(value, {
    key: asRequiredText,
    language: asRequiredText,
    name: asText,
    isAutomatic: asFlag,
  });

const asAudio = (value: unknown): DetailedAudio => ({
  ...asRendition(value),
  version: asFields<AudioVersion>(value, {
    language: asText,
    isOriginal: asFlag,
    isDubbed: asFlag,
    isDescriptive: asFlag,
    isDrc: asFlag,
  }),
});

/** Details as the contract describes them. @throws UnexpectedShape */
export const asMediaDetails = (value: unknown): MediaDetails =>
  asFields<MediaDetails>(value, {
    coverUrl: asWebUrl,
    durationSeconds: asNumber,
    isLive: asFlag,
    availableInSeconds: asNumber,
    description: asText,
    uploadDate: asText,
    chapters: (field) => asList(field, MAX_CHAPTERS, asChapter),
    audio: (field) => asList(field, MAX_RENDITIONS, asAudio),
    subtitles: (field) => asList(field, MAX_SUBTITLES, asSubtitle),
    segmentsKey: asText,
  });

/** Categories that the page does not know are left out. */
export const asSegments = (value: unknown): Segment[] =>
  asList(value, MAX_SEGMENTS, (segment) =>
    asFields<Omit<Segment, 'category'> & { category: SegmentCategory | undefined }>(segment, {
      category: (field) => SEGMENT_CATEGORIES.find((known) => known === field),
      startSeconds: asSeconds,
      endSeconds: asSeconds,
    }),
  ).flatMap(({ category, ...times }) => (category ? [{ category, ...times }] : []));

/** Loads the segments of an item. @throws ApiFailure, UnexpectedShape */
export const loadSegments = async (api: Api, key: string): Promise<readonly Segment[]> =>
  asFields<{ segments: Segment[] }>(await api.getJson(`/api/Stream/Segments/${encodeURIComponent(key)}`), {
    segments: asSegments,
  }).segments;

export interface LoadedDetails extends MediaDetails {
  /** When the site serves the media, in epoch milliseconds of this device. */
  readonly availableAtMs: number;
}

/** Loads the details of one item. @throws ApiFailure, or the signal's reason */
export async function loadDetails(api: Api, link: string, signal?: AbortSignal): Promise<LoadedDetails> {
  const value = await api.getJson(`/api/Fetch/GetDetails?url=${encodeURIComponent(link)}`, signal);
  try {
    const details = asMediaDetails(value);
    return { ...details, availableAtMs: Date.now() + (details.availableInSeconds ?? 0) * 1000 };
  } catch (cause) {
    throw new ApiFailure('unreachable', {}, { cause });
  }
}
