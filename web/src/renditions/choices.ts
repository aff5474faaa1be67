import type { MediaInformation, MediaRendition, StreamReference } from '../api/index.ts';
import type { Choice, ChoiceGroup, Choices, FormatPreference } from './choice.ts';
import { type CanPlay, codecFacts } from './codecs.ts';
import { type ChoiceSource, copiedSources, encodedSources, mp3Sources } from './conversions.ts';
import { fileNameOf, type Naming } from './file-name.ts';
import { selectPreferred } from './format-preference.ts';
import { type ConversionOffers, NO_OFFERS } from './offers.ts';

export interface ChoicesOptions {
  /** Pattern of file names. */
  readonly pattern?: string;
  /** What the visitor selected last. */
  readonly preference?: FormatPreference;
  /** @default the current browser */
  readonly canPlay?: CanPlay;
  /** One-based place in a playlist and its length, for file names. */
  readonly place?: { readonly number: number; readonly count: number };
  /** What the instance converts to besides what it lists. @default nothing */
  readonly offers?: ConversionOffers;
}

/** The choices of an item. Renditions without a key and duplicates are omitted. */
export function choicesOf(item: MediaInformation, options: ChoicesOptions = {}): Choices {
  const { title, author } = item;
  const { canPlay, place, preference, pattern, offers = NO_OFFERS } = options;
  const naming = { title, author, place, pattern };
  const video = renditionsOf(item.video);
  const all = renditionsOf(item.audio);
  const audio = all.filter(({ convertTo }) => !convertTo);
  const mp3 = all.filter(({ convertTo }) => convertTo);
  const copied = copiedSources(audio, offers);
  // Without files of audio alone, those with video are listed for their audio.
  const isVideoListed = audio[0]?.mimeType?.startsWith('video/');
  const withCopied = isVideoListed ? [...copied, ...asListed(audio)] : [...asListed(audio), ...copied];
  const audioSources = [...withCopied, ...encodedSources(mp3[0], offers)];

  const group = (name: ChoiceGroup, sources: readonly ChoiceSource[]): Choice[] => {
    const choices = sources.map((source) => toChoice(name, source, naming, canPlay));
    return withNotes(choices.filter(({ id }, index) => choices.findIndex((other) => other.id === id) === index));
  };
  const groups = {
    video: group('video', asListed(video)),
    audio: group('audio', audio.length > 0 ? audioSources : []),
    mp3: group(
      'mp3',
      mp3.flatMap((rendition) => mp3Sources(rendition, offers)),
    ),
  };
  return { ...groups, preselected: selectPreferred(groups, preference) };
}

const renditionsOf = (reference: StreamReference | undefined): MediaRendition[] =>
  (reference?.renditions ?? []).filter(({ key }) => key);

const asListed = (renditions: readonly MediaRendition[]): ChoiceSource[] =>
  renditions.map((rendition) => ({ rendition }));

function toChoice(
  name: ChoiceGroup,
  { rendition, bitrateKbps, hasTags, codec, isSizeEstimate = false }: ChoiceSource,
  { pattern, ...naming }: Naming & Pick<ChoicesOptions, 'pattern'>,
  canPlay?: CanPlay,
): Choice {
  const extension = rendition.fileExtension ?? '';
  const container = extension.replace(/^\./, '').toUpperCase();
  const isMuxed = rendition.urlType === 'Combined';
  const element = name === 'video' ? 'video' : 'audio';
  const size = rendition.fileSizeBytes;
  const label = rendition.label || container;
  const facts = codecFacts(rendition, element, canPlay);
  const conversion = name === 'audio' ? rendition.convertTo : bitrateKbps;
  return {
    id: [name, rendition.key, conversion].filter(Boolean).join(':'),
    group: name,
    label,
    container,
    ...facts,
    codec: codec ?? facts.codec,
    ...(isFigure(size) && { sizeBytes: size }),
    // A listed conversion's size is exact; a combined stream's is a sum.
    isSizeEstimate: isMuxed || isSizeEstimate,
    ...(isFigure(rendition.height) && { height: rendition.height }),
    ...(isFigure(rendition.bitrate) && { bitrate: rendition.bitrate }),
    ...(bitrateKbps && { bitrateKbps }),
    ...(hasTags && { hasTags }),
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
