import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type Choice, type Choices, versionKey } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon } from '../controls.tsx';
import { sizeName } from '../details.ts';
import { Menu } from './sentence.tsx';

interface ChoiceListProps {
  readonly choices: Choices;
  readonly selected: Choice;
  readonly onSelect: (choice: Choice) => void;
}

/** Every format of an item, on request. */
export const ChoiceList = ({ choices, selected, onSelect }: ChoiceListProps) => {
  const { t } = usePage();
  const id = useId();
  // Conversions are listed for one version of the audio only, because there may be dozens.
  const spoken = versionKey((selected.group === 'video' ? choices.audio[0] : selected)?.version);
  const isListed = ({ group, audio, version, rendition }: Choice) =>
    group === 'video' ? audio === selected.audio : !rendition.convertTo || versionKey(version) === spoken;
  const groups = (['video', 'audio'] as const)
    .map((group) => ({ group, rows: rowsOf(choices[group].filter(isListed)) }))
    .filter(({ rows }) => rows.length > 0);
  return (
    <Disclosure title={t('choices.all', { count: groups.reduce((sum, { rows }) => sum + rows.length, 0) })}>
      {() =>
        groups.map(({ group, rows }) => (
          <fieldset key={group} class="choices">
            <legend>{t(`choices.${group}`)}</legend>
            {rows.map((rates) => (
              <Row key={rates[0]?.id} name={id} rates={rates} selected={selected} onSelect={onSelect} />
            ))}
          </fieldset>
        ))
      }
    </Disclosure>
  );
};

/** One row per format, MP3 in all its bit rates. */
const rowsOf = (choices: readonly Choice[]): readonly (readonly Choice[])[] => [
  ...Map.groupBy(choices, ({ id, rendition: { convertTo } }) => (convertTo === 'mp3' ? convertTo : id)).values(),
];

interface RowProps extends Omit<ChoiceListProps, 'choices'> {
  /** The `name` that the radio buttons share. */
  readonly name: string;
  readonly rates: readonly Choice[];
}

/** A format; of several bit rates with a menu. */
const Row = ({ name, rates, selected, onSelect }: RowProps) => {
  const { t, texts, format } = usePage();
  const choice = rates.find(({ id }) => id === selected.id) ?? (rates[0] as Choice);
  const { label, container, codec, note, playsEverywhere, playsHere } = choice;
  const details = [container === label ? undefined : container, codec === container ? undefined : codec, note];
  return (
    <label class="choice">
      <input type="radio" name={name} checked={choice.id === selected.id} onChange={() => onSelect(choice)} />
      <span class="choice-name">
        <span class="choice-label">
          {rates.length > 1 ? (
            <Menu
              label="menu.quality"
              options={rates.map((rate) => rate.label)}
              selected={rates.indexOf(choice)}
              onSelect={(index) => onSelect(rates[index] ?? choice)}
            />
          ) : (
            <bdi dir="ltr">{label}</bdi>
          )}
        </span>
        <small>
          <bdi dir="ltr">{details.filter(Boolean).join(' · ')}</bdi>
          {!playsHere ? (
            <span class="error-text"> · {t('choices.unplayable')}</span>
          ) : (
            !playsEverywhere && ` · ${t('choices.limited')}`
          )}
        </small>
      </span>
      <span class="choice-size">{sizeName(choice, texts, format)}</span>
    </label>
  );
};

interface DisclosureProps {
  readonly title: string;
  /** Rendered only while it is open. */
  readonly children: () => ComponentChildren;
}

/** Content behind a summary. */
export const Disclosure = ({ title, children }: DisclosureProps) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary class="button plain small">
        <Icon name={isOpen ? 'less' : 'all'} />
        {title}
      </summary>
      {isOpen && children()}
    </details>
  );
};
