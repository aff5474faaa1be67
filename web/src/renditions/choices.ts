import type { AudioVersion, MediaInformation, StreamReference } from '../api/index.ts';
import type { Choice, ChoiceGroup, ChoiceRendition, Choices, FormatPreference } from './choice.ts';
import { type CanPlay, codecFacts } from './codecs.ts';
import { type ChoiceSource, featuresOf, soundSources } from './conversions.ts';
import { selectPreferred } from './format-preference.ts';

export interface ChoicesOptions {
  /** What the visitor selected last. */
  readonly preference?: FormatPreference;
  /** @default the current browser */
  readonly canPlay?: CanPlay;
  /** One-based place in a playlist and its length, for file names. */
  readonly place?: { readonly number: number; readonly count: number };
  /** The MP3 of archives, too. */
  readonly isForArchive?: boolean;
  /** What GetDetails tells of the item. */
  readonly details?: {
    /** All audio of the item with what GetResource leaves out, such as dubs. */
    readonly audio: readonly AudioVersion[];
    readonly nameOf: NameOfVersion;
  };
}

/** The choices of an item. Renditions without a key and duplicates are omitted. */
export function choicesOf(
  item: MediaInformation,
  { preference, canPlay, place, isForArchive, details }: ChoicesOptions = {},
): Choices {
  const versions = new Map(details?.audio.map((rendition) => [unsigned(rendition), rendition]));
  const versionOf = (rendition: ChoiceRendition) => versions.get(unsigned(rendition));
  const listed = renditionsOf(item.audio);
  const mp3 = listed.find(({ convertTo }) => convertTo === 'mp3');
  const keys = new Set(listed.map(unsigned));
  const files: readonly ChoiceRendition[] = [
    ...listed.filter((rendition) => rendition !== mp3),
    ...(details?.audio.filter((rendition) => rendition.key && !keys.has(unsigned(rendition))) ?? []),
  ];
  const byVersion = [...Map.groupBy(files, (rendition) => versionKey(versionOf(rendition))).values()];
  const sounds = (byVersion.length > 0 ? byVersion : [[]]).flatMap((renditions, index) =>
    soundSources(renditions, mp3 && { ...mp3, key: (index > 0 && renditions[0]?.key) || mp3.key }, isForArchive),
  );
  const [first] = byVersion;
  const hasSeveral = new Set([...versions.values()].map(versionKey)).size > 1;
  const naming = { title: titleOf(item, place), canPlay };

  const group = (name: ChoiceGroup, sources: readonly ChoiceSource[]): Choice[] => {
    const choices = sources.map((source) => {
      const { rendition } = source;
      const version = versionOf(rendition);
      // Conversions of the first version are not labelled with its language.
      const isPlain = rendition.convertTo && first?.some(({ key }) => key === rendition.key);
      const language = version && hasSeveral && !isPlain ? details?.nameOf(version) : undefined;
      return { ...toChoice(name, source, { ...naming, isNamed: version !== undefined, language }), version };
    });
    return withNotes(choices.filter(({ id }, index) => choices.findIndex((other) => other.id === id) === index));
  };
  const video = group(
    'video',
    renditionsOf(item.video).map((rendition) => ({ rendition })),
  );
  const groups = {
    video: details ? inLanguages(video, details.audio, details.nameOf) : video,
    audio: group('audio', sounds),
  };
  return { ...groups, preselected: selectPreferred(groups, preference) };
}

/** Keys of a private instance have a signature appended, which differs from response to response. */
const unsigned = ({ key }: ChoiceRendition): string | undefined => key.split('.', 1)[0];

/** A key that is equal for versions which look the same to a visitor. */
export const versionKey = (version: AudioVersion | undefined): string => {
  const { language = '', isDubbed = false, isDescriptive = false, isDrc = false } = version ?? {};
  return JSON.stringify([language, isDubbed, isDescriptive, isDrc]);
};

const renditionsOf = (reference: StreamReference | undefined) => (reference?.renditions ?? []).filter(({ key }) => key);

/** Limit of a title in a URL. The service cuts file names too. */
const MAX_TITLE_CHARACTERS = 200;

function titleOf({ author, title }: MediaInformation, place: ChoicesOptions['place']): string {
  const number = place && String(place.number).padStart(String(place.count).length, '0');
  return [...[number, author, title].filter(Boolean).join(' - ')].slice(0, MAX_TITLE_CHARACTERS).join('');
}

interface NamingOptions {
  readonly title: string;
  readonly canPlay: CanPlay | undefined;
  /** The version is known, so the service's English words for it are removed from the label. */
  readonly isNamed: boolean;
  /** The name of its version, where the item has several. */
  readonly language: string | undefined;
}

/** The beginning of a label, before the service's English words for a version. */
const AMOUNT = /^(?:\d+ kbps|\d+p\d*(?: HDR)?|\S+)/;

function toChoice(
  group: ChoiceGroup,
  { rendition, bitrateKbps, codec, isSizeLimit }: ChoiceSource,
  { title, canPlay, isNamed, language }: NamingOptions,
): Choice {
  const { convertTo } = rendition;
  const container = rendition.fileExtension.replace(/^\./, '').toUpperCase();
  const isMuxed = rendition.urlType === 'Combined';
  const given = withBothSides(rendition) || container;
  const label = isNamed ? (AMOUNT.exec(given)?.[0] ?? given) : given;
  const facts = codecFacts(rendition, group, canPlay);
  return {
    id: [group, unsigned(rendition), convertTo, bitrateKbps].filter(Boolean).join(':'),
    group,
    label: language ? `${label} ${language}` : label,
    title,
    container,
    ...facts,
    codec: codec ?? facts.codec,
    sizeBytes: rendition.fileSizeBytes || undefined,
    // The size of a combined stream is a sum, that of a conversion is computed.
    isSizeEstimate: isMuxed || Boolean(convertTo),
    isSizeLimit,
    height: rendition.height || undefined,
    bitrateKbps,
    hasTags: Boolean(convertTo && featuresOf(convertTo).holds.includes('tags')),
    isMuxed,
    rendition,
  };
}

/** The label of a rendition: `404×720` instead of `404p`, where both sides are known. */
function withBothSides({ label, height, description }: ChoiceRendition): string | null {
  const lines = Number(/^(\d+)p/.exec(label ?? '')?.[1]);
  // Heights that have a name: 240, 360, 1080 and so on, and those of PAL (288, 576).
  if (!label || !lines || lines % 30 === 0 || lines % 144 === 0) return label;
  const described = RegExp(`\\b(?:${lines}x\\d+|\\d+x${lines})\\b`)
    .exec(description ?? '')?.[0]
    .replace('x', '×');
  const sides = described ?? (height && height > lines && `${lines}×${height}`);
  return sides ? label.replace(/^\d+p\d*/, sides) : label;
}

/** Adds notes to choices that would look the same: their bitrates if these differ, else their descriptions. */
function withNotes(choices: readonly Choice[]): Choice[] {
  const textOf = ({ label, container, codec }: Choice) => JSON.stringify([label, container, codec]);
  const bitrateOf = ({ rendition }: Choice) => rendition.bitrate && Math.round(rendition.bitrate);
  return choices.map((choice) => {
    const alike = choices.filter((other) => textOf(other) === textOf(choice));
    if (alike.length === 1) return choice;
    const bitrates = new Set(alike.map(bitrateOf).filter(Boolean));
    const note = bitrates.size === alike.length ? `${bitrateOf(choice)} kbps` : choice.rendition.description;
    return { ...choice, note: note ?? undefined };
  });
}

/** The name of a language in another one; the tag itself where it is no language tag, since sources may send any text. */
export function languageName(language: string, locale: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: 'language' }).of(language) ?? language;
  } catch {
    return language;
  }
}

/** The page's words for a version of the audio: `German (dubbed)`. */
type NameOfVersion = (version: AudioVersion) => string;

/** The version of a file that has each language as a track. */
export const ALL_LANGUAGES = 'all';

/**
 * Videos, and the same with the audio of each other language of their item and with all of them, as the service puts it into MP4.
 * @param audio of the item, best first
 */
function inLanguages(
  videos: readonly Choice[],
  audio: readonly AudioVersion[],
  nameOf: NameOfVersion,
): readonly Choice[] {
  const plain = audio.filter(({ isDescriptive }) => !isDescriptive);
  const original = plain.find(({ isOriginal }) => isOriginal) ?? plain.find(({ isDubbed }) => !isDubbed) ?? plain[0];
  // The audio is within the video files: each version has its own.
  if (!original || videos.some(({ version }) => version)) return videos;
  const bytesOf = ({ fileSizeBytes }: AudioVersion) => fileSizeBytes ?? original.fileSizeBytes ?? Number.NaN;
  const byLanguage = Map.groupBy(plain, ({ language }) => language);
  byLanguage.delete(original.language);
  const others = [...byLanguage].flatMap(([language, [version]]) => (language && version ? { language, version } : []));
  const all = { ...original, isOriginal: false, language: ALL_LANGUAGES };
  const versions = [
    ...others.map((one) => ({ ...one, bytes: bytesOf(one.version) - bytesOf(original) || 0 })),
    { language: ALL_LANGUAGES, version: all, bytes: others.reduce((sum, one) => sum + bytesOf(one.version), 0) },
  ];
  return [
    ...videos.map((video) => ({ ...video, version: original })),
    ...(others.length > 0 ? versions : []).flatMap(({ language, version, bytes }) =>
      videos.map((video) => ({
        ...video,
        id: `${video.id}:${language}`,
        label: `${video.label} ${nameOf(version)}`,
        container: 'MP4',
        audio: language,
        version,
        isMuxed: true,
        isSizeEstimate: true,
        sizeBytes: (video.sizeBytes ?? Number.NaN) + bytes || undefined,
      })),
    ),
  ];
}
