import { useId, useState } from 'preact/hooks';
import { type Choice, type Choices, versionKey } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';
import { sizeName } from '../details/index.ts';

export interface ChoiceListProps {
  readonly choices: Choices;
  readonly selected: Choice;
  readonly onSelect: (choice: Choice) => void;
}

/** Every format of an item, on request. */
export const ChoiceList = ({ choices, selected, onSelect }: ChoiceListProps) => {
  const { t } = usePage().texts;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  // Conversions of one version of the audio alone: there may be dozens.
  const spoken = versionKey((selected.group === 'video' ? choices.audio[0] : selected)?.version);
  const isListed = ({ rendition, version }: Choice) => !rendition.convertTo || versionKey(version) === spoken;
  const groups = [
    { name: t('choices.video'), rows: choices.video.filter(({ audio }) => audio === selected.audio) },
    { name: t('choices.audio'), rows: [...choices.mp3, ...choices.audio].filter(isListed) },
  ].filter(({ rows }) => rows.length > 0);
  return (
    <>
      <button
        type="button"
        class="button plain small"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={isOpen ? 'less' : 'all'} />
        {t('choices.all', { count: groups.reduce((sum, { rows }) => sum + rows.length, 0) })}
      </button>
      <div id={id} class="choices" hidden={!isOpen}>
        {isOpen &&
          groups.map(({ name, rows }) => (
            <fieldset key={name}>
              <legend>{name}</legend>
              {rows.map((choice) => (
                <Row
                  key={choice.id}
                  name={id}
                  choice={choice}
                  onSelect={onSelect}
                  isSelected={choice.id === selected.id}
                />
              ))}
            </fieldset>
          ))}
      </div>
    </>
  );
};

interface RowProps {
  readonly name: string;
  readonly choice: Choice;
  readonly isSelected: boolean;
  readonly onSelect: (choice: Choice) => void;
}

const Row = ({ name, choice, isSelected, onSelect }: RowProps) => {
  const { texts, format } = usePage();
  const { t } = texts;
  const { label, container, codec, note, playsEverywhere, playsHere } = choice;
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
      <span class="choice-size">{sizeName(choice, texts, format)}</span>
    </label>
  );
};
