import type { AudioVersion, Choice, DetailedAudio } from './choice.ts';
import { withSuffix } from './file-name.ts';

/** The name of a language in another one; the tag itself where it names none: sources name languages freely. */
export function languageName(language: string, locale: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: 'language' }).of(language) ?? language;
  } catch {
    return language;
  }
}

/** The page's words for versions of the audio. */
export interface VersionWords {
  readonly locale: string;
  /** `German (dubbed)`. */
  readonly nameOf: (version: AudioVersion) => string;
}

/** A label that names its version in English, in the page's words. */
export function translated(label: string, version: AudioVersion | undefined, { nameOf }: VersionWords): string {
  const start = version?.language ? label.indexOf(` ${languageName(version.language, 'en')}`) : -1;
  return version && start > 0 ? `${label.slice(0, start)} ${nameOf(version)}` : label;
}

/** The version of a file that has each language as a track. */
export const ALL_LANGUAGES = 'all';

/**
 * Videos with the audio of each other language of their item, and with all of them, as the service puts it into MP4.
 * @param audio of the item, best first
 */
export function inOtherLanguages(
  videos: readonly Choice[],
  audio: readonly DetailedAudio[] = [],
  words?: VersionWords,
): readonly Choice[] {
  // Audio within video: each version has a video of its own.
  if (videos.some(({ version }) => version)) return [];
  const plain = audio.filter(({ version }) => !version.isDescriptive);
  const original =
    plain.find(({ version }) => version.isOriginal) ?? plain.find(({ version }) => !version.isDubbed) ?? plain[0];
  const others = plain.filter(
    ({ version: { language } }, index) =>
      language &&
      language !== original?.version.language &&
      plain.findIndex(({ version }) => version.language === language) === index,
  );
  if (!original || others.length === 0) return [];
  const bytesOf = ({ fileSizeBytes }: DetailedAudio) => fileSizeBytes ?? original.fileSizeBytes ?? Number.NaN;
  const all = { ...original.version, isOriginal: false, language: ALL_LANGUAGES };
  const allBytes = others.reduce((sum, other) => sum + bytesOf(other), 0);
  return [
    ...others.map((other) => ({ version: other.version, addedBytes: bytesOf(other) - bytesOf(original) })),
    { version: all, addedBytes: allBytes },
  ].flatMap(({ version, addedBytes }) => {
    const name =
      version === all
        ? (words?.nameOf(all) ?? 'all languages')
        : languageName(version.language ?? '', words?.locale ?? 'en');
    return videos.map((video) => inLanguage(video, version, { name, addedBytes }));
  });
}

interface OtherLanguage {
  readonly name: string;
  /** NaN while not known. */
  readonly addedBytes: number;
}

function inLanguage(video: Choice, version: AudioVersion, { name, addedBytes }: OtherLanguage): Choice {
  const { sizeBytes: originalBytes = Number.NaN, ...rest } = video;
  const language = version.language ?? ALL_LANGUAGES;
  const isAll = language === ALL_LANGUAGES;
  const sizeBytes = originalBytes + (Number.isNaN(addedBytes) && !isAll ? 0 : addedBytes);
  return {
    ...rest,
    ...(sizeBytes > 0 && { sizeBytes }),
    id: `${video.id}:${language}`,
    audio: language,
    version,
    container: 'MP4',
    fileName: withSuffix(video.fileName, name).replace(/\.\w+$/, '.mp4'),
    isMuxed: true,
    isSizeEstimate: true,
  };
}
