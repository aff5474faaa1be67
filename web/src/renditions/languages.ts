import type { AudioVersion } from '../api/index.ts';
import type { Choice, DetailedAudio } from './choice.ts';

/** The name of a language in another one; the tag itself where it names none: sources name languages freely. */
export function languageName(language: string, locale: string): string {
  try {
    return new Intl.DisplayNames(locale, { type: 'language' }).of(language) ?? language;
  } catch {
    return language;
  }
}

/** The page's words for a version of the audio: `German (dubbed)`. */
export type NameOfVersion = (version: AudioVersion) => string;

/** The version of a file that has each language as a track. */
export const ALL_LANGUAGES = 'all';

/**
 * Videos, and the same with the audio of each other language of their item and with all of them, as the service puts it into MP4.
 * @param audio of the item, best first
 */
export function inLanguages(
  videos: readonly Choice[],
  audio: readonly DetailedAudio[],
  nameOf: NameOfVersion,
): readonly Choice[] {
  const plain = audio.filter(({ version }) => !version.isDescriptive);
  const original =
    plain.find(({ version }) => version.isOriginal) ?? plain.find(({ version }) => !version.isDubbed) ?? plain[0];
  // Audio within video: each version has a video of its own.
  if (!original || videos.some(({ version }) => version)) return videos;
  const bytesOf = ({ fileSizeBytes }: DetailedAudio) => fileSizeBytes ?? original.fileSizeBytes ?? Number.NaN;
  const byLanguage = Map.groupBy(plain, ({ version }) => version.language);
  byLanguage.delete(original.version.language);
  const others = [...byLanguage].flatMap(([language, [first]]) => (language && first ? { ...first, language } : []));
  const all = { ...original.version, isOriginal: false, language: ALL_LANGUAGES };
  const versions = [
    ...others.map((one) => ({ ...one, bytes: bytesOf(one) - bytesOf(original) || 0 })),
    { language: ALL_LANGUAGES, version: all, bytes: others.reduce((sum, one) => sum + bytesOf(one), 0) },
  ];
  return [
    ...videos.map((video) => ({ ...video, version: original.version })),
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
