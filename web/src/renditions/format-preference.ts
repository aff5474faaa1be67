import type { Choice, ChoiceGroup, Choices, FormatPreference } from './choice.ts';

type Groups = Pick<Choices, ChoiceGroup>;

/** Preselected without a preference: what most screens show, at a size that most connections carry. */
const DEFAULT_HEIGHT = 1080;

/**
 * The choice closest to a preference: of videos the tallest up to the preferred height (default 1080) that plays here,
 * of audio the best that plays everywhere, of MP3 the listed bit rate. Of each what has the preferred language, where any
 * has. Falls back to the other groups.
 */
export function selectPreferred(groups: Groups, preference?: FormatPreference): Choice | undefined {
  const { group = 'video', height = DEFAULT_HEIGHT, bitrateKbps, container, language } = preference ?? {};
  const spoken = (choices: readonly Choice[]) => inLanguage(choices, language);
  const select = {
    video: () => selectVideo(spoken(groups.video), height),
    audio: () => selectAudio(spoken(groups.audio), container),
    mp3: () => selectMp3(spoken(groups.mp3), bitrateKbps),
  };
  const order: readonly ChoiceGroup[] = [group, 'video', 'audio', 'mp3'];
  for (const name of order) {
    const choice = select[name]();
    if (choice) return choice;
  }
  return undefined;
}

/** What has the language, without audio descriptions; all where nothing has. */
function inLanguage(choices: readonly Choice[], language: string | undefined): readonly Choice[] {
  const found = language
    ? choices.filter(({ version }) => version?.language === language && !version.isDescriptive)
    : [];
  return found.length > 0 ? found : choices;
}

function selectVideo(choices: readonly Choice[], maxHeight: number): Choice | undefined {
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

/** @param container that the visitor selected last */
export function selectAudio(choices: readonly Choice[], container?: string): Choice | undefined {
  const sound = withoutInferior(choices);
  // PCM is ten times as large, and never better than its source.
  const compressed = sound.filter(({ rendition }) => rendition.convertTo !== 'wav');
  return (
    (container ? sound.find((choice) => choice.container === container) : undefined) ??
    compressed.find(({ playsEverywhere }) => playsEverywhere) ??
    compressed.find(({ playsHere }) => playsHere) ??
    choices[0]
  );
}

/** @param bitrateKbps absent: the listed one, which the instance lists rather than converting to it on request */
export const selectMp3 = (choices: readonly Choice[], bitrateKbps?: number): Choice | undefined =>
  choices.find((choice) => choice.bitrateKbps === bitrateKbps) ??
  choices.find((choice) => choice.bitrateKbps === undefined) ??
  choices[0];

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
