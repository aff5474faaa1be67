import type { Choice, Choices, FormatPreference } from './choice.ts';
import { versionKey } from './choices.ts';
import { rowsOf } from './format-preference.ts';

/** The choices that the menus of the sentence select. */
export interface Menus {
  /** One per format that the selected version of the audio has, as `nameOf` names it. */
  readonly formats: readonly Choice[];
  /** One per version of the audio, in the selected format or one like it. */
  readonly versions: readonly Choice[];
}

export function menusOf(choices: Choices, selected: Choice): Menus {
  const all = selected.group === 'video' ? choices.video : [...choices.mp3, ...choices.audio];
  const isSelectedVersion = ({ version }: Choice) => versionKey(version) === versionKey(selected.version);
  const byVersion = [...Map.groupBy(all, ({ version }) => versionKey(version)).values()];
  return {
    formats: rowsOf(all.filter(isSelectedVersion), nameOf),
    versions: byVersion.flatMap(
      (one) =>
        one.find(({ id }) => id === selected.id) ??
        rowsOf(one, nameOf).find((choice) => nameOf(choice) === nameOf(selected)) ??
        one.find(({ container, group }) => container === selected.container && group === selected.group) ??
        one[0] ??
        [],
    ),
  };
}

/**
 * What selecting a choice says of the language: nothing where it stays as it was.
 * @param before the choice that was selected until then
 */
export function languageChange(choices: Choices, before: Choice, choice: Choice): Pick<FormatPreference, 'language'> {
  const [was, is] = [versionKey(before.version), versionKey(choice.version)];
  const isOtherKind = (before.group === 'video') !== (choice.group === 'video');
  if (was === is || isOtherKind) return {};
  const [original] = menusOf(choices, choice).versions;
  return { language: is === versionKey(original?.version) ? undefined : (choice.version?.language ?? undefined) };
}

/** What the sentence calls a choice, whatever the version of its audio: `1080p60 HDR`, `MP3 192`, `WAV`. */
export function nameOf({ group, label, container }: Choice): string {
  if (group === 'video') return /^\d+p\d*(?: HDR)?/.exec(label)?.[0] ?? label;
  const [amount = ''] = label.split(' ', 1);
  return amount === container ? container : `${container} ${amount}`;
}

/** Whether its file has room for subtitles. */
export const holdsSubtitles = ({ group, container }: Choice): boolean => group === 'video' && container === 'MP4';

/** The choice with what is put into its file besides the media. */
export const withExtras = (
  choice: Choice,
  { hasTags = true, subtitles }: Pick<FormatPreference, 'hasTags' | 'subtitles'>,
): Choice => ({
  ...choice,
  ...(choice.hasTags && { hasTags }),
  ...(subtitles && holdsSubtitles(choice) && { subtitles, isSizeEstimate: true }),
});
