import { useId, useState } from 'preact/hooks';
import type { Choice, ChoiceGroup, Choices } from '../../renditions/index.ts';
import { usePage } from '../context.ts';

export interface ChoiceListProps {
  readonly choices: Choices;
  readonly selected: Choice;
  readonly onSelect: (choice: Choice) => void;
}

const GROUPS: readonly ChoiceGroup[] = ['video', 'audio', 'mp3'];
/** Longer groups are collapsed to this many. */
const MAX_COLLAPSED = 3;

/** All renditions as one radio group. */
export const ChoiceList = ({ choices, selected, onSelect }: ChoiceListProps) => {
  const { t } = usePage().texts;
  const name = useId();
  return (
    <fieldset>
      <legend class="visually-hidden">{t('choices.legend')}</legend>
      {GROUPS.map((group) => (
        <Group key={group} {...{ group, name, selected, onSelect }} choices={choices[group]} />
      ))}
    </fieldset>
  );
};

interface GroupProps {
  readonly group: ChoiceGroup;
  readonly name: string;
  readonly choices: readonly Choice[];
  readonly selected: Choice;
  readonly onSelect: (choice: Choice) => void;
}

const Group = ({ group, name, choices, selected, onSelect }: GroupProps) => {
  const { t } = usePage().texts;
  const [isOpen, setOpen] = useState(false);
  if (choices.length === 0) return null;
  // A button in place of a single row would save nothing.
  const isLong = choices.length > MAX_COLLAPSED + 1;
  const shown = isOpen || !isLong ? choices : collapsed(choices, selected);
  const hasTwin = ({ label, container }: Choice) =>
    shown.filter((other) => other.label === label && other.container === container).length > 1;
  return (
    <fieldset class="choice-group">
      <legend>{t(`choices.${group}`)}</legend>
      {shown.map((choice) => (
        <Row
          key={choice.id}
          {...{ name, choice, onSelect }}
          hint={hasTwin(choice) ? choice.description : null}
          isSelected={choice.id === selected.id}
        />
      ))}
      {isLong && (
        <button
          type="button"
          class="button plain small choice-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? t('choices.fewer') : t('choices.all', { count: choices.length })}
        </button>
      )}
    </fieldset>
  );
};

/** The first ones, the selected one and the first compatible one, in order. */
function collapsed(choices: readonly Choice[], selected: Choice): readonly Choice[] {
  const kept = new Set([
    selected,
    choices.find(({ playsEverywhere }) => playsEverywhere),
    ...choices.slice(0, MAX_COLLAPSED),
  ]);
  return choices.filter((choice) => kept.has(choice));
}

interface RowProps {
  readonly name: string;
  readonly choice: Choice;
  /** Distinguishes rows with the same label. */
  readonly hint: string | null;
  readonly isSelected: boolean;
  readonly onSelect: (choice: Choice) => void;
}

const Row = ({ name, choice, hint, isSelected, onSelect }: RowProps) => {
  const { texts, format } = usePage();
  const { label, container, sizeBytes, isSizeEstimate, playsEverywhere } = choice;
  const size = sizeBytes === undefined ? undefined : format.bytes(sizeBytes);
  return (
    <label class="choice">
      <input type="radio" name={name} checked={isSelected} onChange={() => onSelect(choice)} />
      <span class="choice-name">
        <bdi class="choice-label" dir="ltr">
          {label}
        </bdi>
        {container !== label && <small>{container}</small>}
        {playsEverywhere && <span class="badge">{texts.t('choices.everywhere')}</span>}
        {hint && (
          <span class="choice-hint" title={hint}>
            {hint}
          </span>
        )}
      </span>
      <span class="choice-size">{size && isSizeEstimate ? texts.t('choices.about', { size }) : size}</span>
    </label>
  );
};
