import type { Choice, Choices, FormatPreference } from './choice.ts';
import { versionKey } from './choices.ts';
import { rowsOf } from './format-preference.ts';

/** The choices that the menus of the sentence select. */
export function menusOf(choices: Choices, selected: Choice) {
  const byVersion = Map.groupBy(choices[selected.group], ({ version }) => versionKey(version));
  return {
    /** One per format that the selected version of the audio has, as `nameOf` names it. */
    formats: rowsOf(byVersion.get(versionKey(selected.version)) ?? [], nameOf),
    /** One per version of the audio, in the selected format or one like it. */
    versions: [...byVersion.values()].flatMap(
      (one) =>
        one.find(({ id }) => id === selected.id) ??
        rowsOf(one, nameOf).find((choice) => nameOf(choice) === nameOf(selected)) ??
        one.find(({ container }) => container === selected.container) ??
        one[0] ??
        [],
    ),
  };
}

/**
 * The language preference that selecting a choice expresses; none when the version stays the same.
 * @param before the choice that was selected until then
 */
export function languageChange(choices: Choices, before: Choice, choice: Choice): Pick<FormatPreference, 'language'> {
  const [was, is] = [versionKey(before.version), versionKey(choice.version)];
  if (was === is || before.group !== choice.group) return {};
  const [original] = menusOf(choices, choice).versions;
  return { language: is === versionKey(original?.version) ? undefined : (choice.version?.language ?? undefined) };
}

/** What the sentence calls a choice, whatever the version of its audio: `1080p60 HDR`, `404×720`, `MP3 192`, `Opus 128`, `WAV`. */
export function nameOf({ group, label, container, codec }: Choice): string {
  if (group === 'video') return /^\d+(?:p\d*(?: HDR)?|×\d+)/.exec(label)?.[0] ?? label;
  const [amount = ''] = label.split(' ', 1);
  // The codec in a WebM file tells more than its container.
  return amount === container ? container : `${container === 'WEBM' && codec ? codec : container} ${amount}`;
}
