import type { MediaInformation, MediaRendition, StreamReference } from '../api/index.ts';
import type { AudioVersion, Choice, ChoiceGroup, Choices, DetailedAudio, FormatPreference } from './choice.ts';
import { type CanPlay, codecFacts } from './codecs.ts';
import { type ChoiceSource, copiedSources, encodedSources, isVideo, mp3Sources } from './conversions.ts';
import { fileNameOf, type Naming } from './file-name.ts';
import { selectPreferred } from './format-preference.ts';
import { inOtherLanguages, translated, type VersionWords } from './languages.ts';

export interface ChoicesOptions {
  /** What the visitor selected last. */
  readonly preference?: FormatPreference;
  /** @default the current browser */
  readonly canPlay?: CanPlay;
  /** One-based place in a playlist and its length, for file names. */
  readonly place?: { readonly number: number; readonly count: number };
  /** All audio of the item with what GetResource leaves out, such as dubs, as GetDetails lists it. */
  readonly audio?: readonly DetailedAudio[];
  /** @default the service's English */
  readonly words?: VersionWords;
}

/** The choices of an item. Renditions without a key and duplicates are omitted. */
export function choicesOf(item: MediaInformation, options: ChoicesOptions = {}): Choices {
  const { title, author } = item;
  const { canPlay, place, preference, words } = options;
  const naming = { title, author, place };
  const versions = new Map(options.audio?.map((rendition) => [unsigned(rendition), rendition.version]));
  const listed = renditionsOf(item.audio);
  const mp3 = listed.filter(({ convertTo }) => convertTo);
  const listedKeys = new Set(listed.map(unsigned));
  const added = options.audio?.filter((rendition) => rendition.key && !listedKeys.has(unsigned(rendition))) ?? [];
  const audio = [...listed.filter(({ convertTo }) => !convertTo), ...added];
  const byVersion = [...Map.groupBy(audio, (rendition) => versionKey(versions.get(unsigned(rendition)))).values()];
  const sets = (byVersion.length > 0 ? byVersion : [[]]).map((renditions, index) => ({
    renditions,
    index,
    mp3: index === 0 ? mp3[0] : conversionOf(mp3[0], renditions),
  }));

  const group = (name: ChoiceGroup, sources: readonly ChoiceSource[]): Choice[] => {
    const choices = sources.map(({ rendition, ...source }) => {
      const version = versions.get(unsigned(rendition));
      const label = rendition.label && words ? translated(rendition.label, version, words) : rendition.label;
      return { ...toChoice(name, { ...source, rendition: { ...rendition, label } }, naming, canPlay), version };
    });
    return withNotes(choices.filter(({ id }, index) => choices.findIndex((other) => other.id === id) === index));
  };
  const video = group('video', asListed(renditionsOf(item.video)));
  const groups = {
    video: [...video, ...inOtherLanguages(video, options.audio, words)],
    audio: group(
      'audio',
      sets.flatMap((set) => (set.renditions.length > 0 ? named(audioSources(set.renditions, set.mp3), set) : [])),
    ),
    mp3: group(
      'mp3',
      sets.flatMap((set) => (set.mp3 ? named(mp3Sources(set.mp3), set) : [])),
    ),
  };
  return { ...groups, preselected: selectPreferred(groups, preference) };
}

/** Keys of a private instance have a signature appended, which differs from response to response. */
const unsigned = ({ key }: MediaRendition): string | undefined => key?.split('.', 1)[0];

/** The same for versions that a visitor takes for one. */
export const versionKey = (version: AudioVersion | undefined): string => {
  const { language = '', isDubbed = false, isDescriptive = false, isDrc = false } = version ?? {};
  return JSON.stringify([language, isDubbed, isDescriptive, isDrc]);
};

interface AudioSet {
  readonly renditions: readonly MediaRendition[];
  readonly index: number;
}

/** The listed MP3, made of other audio. */
const conversionOf = (mp3: MediaRendition | undefined, [best]: readonly MediaRendition[]) =>
  mp3?.convertTo === 'mp3' && best ? { ...mp3, key: best.key } : undefined;

/** Conversions of other versions than the first have the name of theirs in their labels: `192 kbps German (dubbed)`. */
function named(sources: readonly ChoiceSource[], { renditions: [best], index }: AudioSet): readonly ChoiceSource[] {
  const name = (best?.label ?? '').replace(/^(?:\d+ kbps|\S+) */, '');
  if (index === 0) return sources;
  return sources.map((source) => {
    const label = source.rendition.label ?? '';
    return label.endsWith(name) ? source : { ...source, rendition: { ...source.rendition, label: `${label} ${name}` } };
  });
}

/** @param mp3 the conversion of the first */
function audioSources(audio: readonly MediaRendition[], mp3: MediaRendition | undefined): ChoiceSource[] {
  // Without files of audio alone, those with video are listed to be converted.
  const listed = asListed(audio.filter((rendition) => !isVideo(rendition)));
  return [...listed, ...copiedSources(audio, mp3), ...encodedSources(mp3)];
}

const renditionsOf = (reference: StreamReference | undefined): MediaRendition[] =>
  (reference?.renditions ?? []).filter(({ key }) => key);

const asListed = (renditions: readonly MediaRendition[]): ChoiceSource[] =>
  renditions.map((rendition) => ({ rendition }));

function toChoice(
  name: ChoiceGroup,
  { rendition, bitrateKbps, hasTags, codec, isSizeEstimate = false }: ChoiceSource,
  naming: Naming,
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
    fileName: fileNameOf({ ...naming, quality: label === container ? undefined : label }, extension),
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
