import type { MediaInformation, MediaRendition, StreamReference } from '../api/index.ts';
import type { Choice, ChoiceGroup, Choices, FormatPreference } from './choice.ts';
import { type CanPlay, codecFacts } from './codecs.ts';
import { fileNameOf, type Naming } from './file-name.ts';
import { selectPreferred } from './format-preference.ts';

export interface ChoicesOptions {
  /** Of file names. */
  readonly pattern?: string;
  /** What the visitor selected last. */
  readonly preference?: FormatPreference;
  /** @default the current browser */
  readonly canPlay?: CanPlay;
  /** One-based place in a playlist and its length, for file names. */
  readonly place?: { readonly number: number; readonly count: number };
}

/** The choices of an item. Renditions without a key and duplicates are omitted. */
export function choicesOf(item: MediaInformation, options: ChoicesOptions = {}): Choices {
  const { title, author, video, audio } = item;
  const { canPlay, place, preference, pattern } = options;
  const naming = { title, author, place, pattern };
  const group = (name: ChoiceGroup, reference: StreamReference | undefined): Choice[] => {
    const renditions = (reference?.renditions ?? []).filter(
      ({ key, convertTo }) => key && (name === 'video' || Boolean(convertTo) === (name === 'mp3')),
    );
    const choices = renditions.map((rendition) => toChoice(name, rendition, naming, canPlay));
    return withNotes(choices.filter(({ id }, index) => choices.findIndex((other) => other.id === id) === index));
  };
  const groups = { video: group('video', video), audio: group('audio', audio), mp3: group('mp3', audio) };
  return { ...groups, preselected: selectPreferred(groups, preference) };
}

function toChoice(
  name: ChoiceGroup,
  rendition: MediaRendition,
  { pattern, ...naming }: Naming & Pick<ChoicesOptions, 'pattern'>,
  canPlay?: CanPlay,
): Choice {
  const extension = rendition.fileExtension ?? '';
  const container = extension.replace(/^\./, '').toUpperCase();
  const isMuxed = rendition.urlType === 'Combined';
  const element = name === 'video' ? 'video' : 'audio';
  const size = rendition.fileSizeBytes;
  const label = rendition.label || container;
  return {
    id: `${name}:${rendition.key}`,
    group: name,
    label,
    container,
    ...codecFacts(rendition, element, canPlay),
    ...(isFigure(size) && { sizeBytes: size }),
    // A conversion's size is exact; a combined stream's is a sum.
    isSizeEstimate: isMuxed,
    ...(isFigure(rendition.height) && { height: rendition.height }),
    ...(isFigure(rendition.bitrate) && { bitrate: rendition.bitrate }),
    isMuxed,
    element,
    mimeType: rendition.mimeType ?? (name === 'video' ? 'video/mp4' : 'audio/mpeg'),
    fileName: fileNameOf({ ...naming, quality: label === container ? undefined : label }, extension, pattern),
    rendition,
  };
}

/** Adds what tells choices apart that would look the same: their bitrates if they differ, else their descriptions. */
function withNotes(choices: readonly Choice[]): Choice[] {
  const textOf = ({ label, container, codec }: Choice) => JSON.stringify([label, container, codec]);
  return choices.map((choice) => {
    const alike = choices.filter((other) => textOf(other) === textOf(choice));
    if (alike.length === 1) return choice;
    const bitrates = new Set(alike.map(({ bitrate }) => bitrate && Math.round(bitrate)));
    const areDistinct = bitrates.size === alike.length && !bitrates.has(undefined);
    return { ...choice, note: areDistinct ? `${Math.round(choice.bitrate ?? 0)} kbps` : noteOf(choice) };
  });
}

const noteOf = ({ rendition: { description } }: Choice): string | undefined => description ?? undefined;

const isFigure = (value: number | null | undefined): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;

/** Whether the service can send parts of it: of MP4 that it can seek in, and of conversions. */
export const isClippable = ({ canSeek, container, rendition }: Choice): boolean =>
  canSeek !== false && (Boolean(rendition.convertTo) || /^(MP4|M4A|M4V)$/.test(container));
