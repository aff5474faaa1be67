import { useId, useState } from 'preact/hooks';
import { type Choice, type ChoiceGroup, type Choices, rowsOf } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';
import { Tabs } from './tabs.tsx';

export interface ChoiceListProps {
  readonly choices: Choices;
  readonly selected: Choice;
  readonly onSelect: (choice: Choice) => void;
  /** Selects the preferred choice of another group. */
  readonly onSelectGroup: (group: ChoiceGroup) => void;
}

const GROUPS: readonly ChoiceGroup[] = ['video', 'audio', 'mp3'];

/** The renditions of one group, one row per height, with a tab for each group. */
export const ChoiceList = ({ choices, selected, onSelect, onSelectGroup }: ChoiceListProps) => {
  const { t } = usePage().texts;
  const name = useId();
  const panelId = useId();
  const [showsAll, setShowsAll] = useState(false);
  const { group } = selected;
  const all = choices[group];
  const rows = rowsOf(all);
  const shown = showsAll ? all : withSelected(rows, selected, all);
  return (
    <>
      <Tabs
        label={t('choices.legend')}
        panelId={panelId}
        tabs={GROUPS.filter((one) => choices[one].length > 0).map((one) => ({ id: one, name: t(`choices.${one}`) }))}
        selected={group}
        onSelect={onSelectGroup}
      />
      <div id={panelId} role="tabpanel" aria-labelledby={`${panelId}-${group}`}>
        <fieldset class="choices">
          <legend class="visually-hidden">{t(`choices.${group}`)}</legend>
          {shown.map((choice) => (
            <Row key={choice.id} {...{ name, choice, onSelect }} isSelected={choice.id === selected.id} />
          ))}
        </fieldset>
        {all.length > rows.length && (
          <button
            type="button"
            class="button plain small choice-more"
            aria-expanded={showsAll}
            onClick={() => setShowsAll(!showsAll)}
          >
            <Icon name={showsAll ? 'less' : 'all'} />
            {showsAll ? t('choices.fewer') : t('choices.all', { count: all.length })}
          </button>
        )}
      </div>
    </>
  );
};

/** The rows, and the selected choice in its order when it is none of them. */
const withSelected = (rows: readonly Choice[], selected: Choice, all: readonly Choice[]): readonly Choice[] =>
  all.filter(({ id }) => id === selected.id || rows.some((row) => row.id === id));

interface RowProps {
  readonly name: string;
  readonly choice: Choice;
  readonly isSelected: boolean;
  readonly onSelect: (choice: Choice) => void;
}

const Row = ({ name, choice, isSelected, onSelect }: RowProps) => {
  const { texts, format } = usePage();
  const { t } = texts;
  const { label, container, codec, note, sizeBytes, isSizeEstimate, playsEverywhere, playsHere } = choice;
  const size = sizeBytes === undefined ? undefined : format.bytes(sizeBytes);
  const details = [container === label ? undefined : container, codec === container ? undefined : codec, note];
  return (
    <label class="choice">
      <input type="radio" name={name} checked={isSelected} onChange={() => onSelect(choice)} />
      <span class="choice-name">
        <bdi class="choice-label" dir="ltr">
          {label}
        </bdi>
        <small>
          <bdi dir="ltr">{details.filter(Boolean).join(' · ')}</bdi>
        </small>
        {!playsHere ? (
          <span class="badge warning">{t('choices.unplayable')}</span>
        ) : (
          !playsEverywhere && <span class="badge">{t('choices.limited')}</span>
        )}
      </span>
      <span class="choice-size">{size && isSizeEstimate ? t('choices.about', { size }) : size}</span>
    </label>
  );
};
