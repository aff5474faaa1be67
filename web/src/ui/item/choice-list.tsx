import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { type Choice, type Choices, versionKey } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon } from '../controls.tsx';
import { sizeName } from '../details.ts';

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
  const groups = [
    { name: t('choices.video'), rows: choices.video.filter(({ audio }) => audio === selected.audio) },
    {
      name: t('choices.audio'),
      rows: choices.audio.filter(({ rendition, version }) => !rendition.convertTo || versionKey(version) === spoken),
    },
  ].filter(({ rows }) => rows.length > 0);
  return (
    <Disclosure title={t('choices.all', { count: groups.reduce((sum, { rows }) => sum + rows.length, 0) })}>
      {() =>
        groups.map(({ name, rows }) => (
          <fieldset key={name} class="choices">
            <legend>{name}</legend>
            {rows.map((choice) => (
              <label key={choice.id} class="choice">
                <input type="radio" name={id} checked={choice.id === selected.id} onChange={() => onSelect(choice)} />
                <Row {...choice} />
              </label>
            ))}
          </fieldset>
        ))
      }
    </Disclosure>
  );
};

const Row = (choice: Choice) => {
  const { t, texts, format } = usePage();
  const { label, container, codec, note, playsEverywhere, playsHere } = choice;
  const details = [container === label ? undefined : container, codec === container ? undefined : codec, note];
  return (
    <>
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
      <span class="choice-size">{sizeName(choice, texts, format)}</span>
    </>
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
