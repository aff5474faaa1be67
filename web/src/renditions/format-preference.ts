import type { Choice, Choices, FormatPreference } from './choice.ts';

/** Preselected without a preference: fits most screens and connections. */
const DEFAULT_HEIGHT = 1080;

/**
 * The choice closest to a preference: of videos the tallest up to the preferred height (default 1080) that plays here, of audio that in
 * the preferred format, else the best file that plays everywhere. Of each what has the preferred language, where any has. Falls back to
 * the other group.
 */
export function selectPreferred(
  groups: Pick<Choices, 'video' | 'audio'>,
  preference: FormatPreference = {},
): Choice | undefined {
  const { group, height, language } = preference;
  const video = () => selectVideo(inLanguage(groups.video, language), height);
  const audio = () => selectAudio(inLanguage(groups.audio, language), preference);
  return group === 'audio' ? (audio() ?? video()) : (video() ?? audio());
}

/** What has the language, without audio descriptions; all where nothing has. */
function inLanguage(choices: readonly Choice[], language: string | undefined): readonly Choice[] {
  const found = language
    ? choices.filter(({ version }) => version?.language === language && !version.isDescriptive)
    : [];
  return found.length > 0 ? found : choices;
}

function selectVideo(choices: readonly Choice[], maxHeight = DEFAULT_HEIGHT): Choice | undefined {
  const rows = withoutInferior(rowsOf(choices));
  const fits = ({ height = 0 }: Choice) => height <= maxHeight;
  return (
    rows.find((choice) => fits(choice) && choice.playsHere) ??
    rows.findLast(({ playsHere }) => playsHere) ??
    rows.find(fits) ??
    rows.at(-1)
  );
}

/** Without flawed ones below a sound one, as `/api/Get` chooses. @param choices best first */
function withoutInferior(choices: readonly Choice[]): readonly Choice[] {
  const sound = choices.findIndex(({ isFlawed }) => !isFlawed);
  return choices.filter(({ isFlawed }, index) => !isFlawed || sound < 0 || index < sound);
}

function selectAudio(choices: readonly Choice[], { container, bitrateKbps }: FormatPreference): Choice | undefined {
  const sound = withoutInferior(choices);
  const wanted = sound.filter((choice) => choice.container === container);
  // MP3 is never better than its source, and WAV is ten times as large.
  const copied = sound.filter(({ rendition: { convertTo } }) => convertTo !== 'mp3' && convertTo !== 'wav');
  return (
    wanted.find((choice) => choice.bitrateKbps === bitrateKbps) ??
    wanted[0] ??
    copied.find(({ playsEverywhere }) => playsEverywhere) ??
    copied.find(({ playsHere }) => playsHere) ??
    copied[0] ??
    choices[0]
  );
}

/**
 * One choice per row, best first: of several of a row a sound one, then the one that plays everywhere, else here, else the
 * first; a stream with ranges before a combined one.
 * @param rowOf `1080p` for `1080p60` and `1080p (HDR)` too, by default
 */
export function rowsOf(choices: readonly Choice[], rowOf: (choice: Choice) => string = rowLabel): readonly Choice[] {
  const best = new Map<string, Choice>();
  for (const choice of choices) {
    const row = rowOf(choice);
    const current = best.get(row);
    if (!current || rank(choice) > rank(current)) best.set(row, choice);
  }
  return [...best.values()];
}

const rowLabel = ({ label, height }: Choice): string => (height === undefined ? label : String(height));

const rank = ({ isFlawed, playsEverywhere, playsHere, isMuxed }: Choice): number =>
  (isFlawed ? 0 : 8) + (playsEverywhere ? 4 : 0) + (playsHere ? 2 : 0) + (isMuxed ? 0 : 1);
