import { useId, useState } from 'preact/hooks';
import { usePage } from './context.ts';
import { Cover } from './cover.tsx';
import { type Entry, hasVersions } from './entries.ts';
import { failureText } from './failure-text.ts';
import { Icon } from './icons.tsx';
import { Item } from './item.tsx';

export interface PlaylistEntryProps {
  readonly entry: Entry;
  readonly isPicked: boolean;
  readonly onPick: (isPicked: boolean) => void;
  readonly onLookUp: () => Promise<unknown>;
}

/** One entry of a list; opened, its versions. */
export const PlaylistEntry = ({ entry, isPicked, onPick, onLookUp }: PlaylistEntryProps) => {
  const { texts } = usePage();
  const { t } = texts;
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const { item, isLooking, failure } = entry;
  const title = item.title ?? t('item.untitled');
  const isKnown = hasVersions(item);
  const toggle = () => {
    setOpen(!isOpen);
    if (!isOpen && !isKnown) void onLookUp();
  };
  return (
    <li class="entry">
      <div class="entry-row">
        <label class="entry-pick">
          <input
            type="checkbox"
            class="checkbox"
            aria-label={t('list.pick', { title })}
            checked={isPicked}
            onChange={({ currentTarget }) => onPick(currentTarget.checked)}
          />
        </label>
        <Cover url={item.coverUrl} isSmall />
        <div class="entry-text">
          <h3 dir="auto">{title}</h3>
          {failure ? (
            <p class="trouble" role="alert">
              {failureText(texts, failure).title}
            </p>
          ) : (
            <p dir="auto">{isLooking ? t('list.looking') : (item.author ?? (isKnown ? '' : t('list.noVersions')))}</p>
          )}
        </div>
        <button
          type="button"
          class="button small"
          aria-controls={id}
          disabled={isLooking}
          onClick={failure ? () => void onLookUp() : toggle}
        >
          <Icon name={failure ? 'retry' : isKnown ? 'all' : 'search'} />
          <span class="word">{t(isKnown ? (isOpen ? 'list.close' : 'list.open') : 'list.lookUp')}</span>
          <span class="visually-hidden">{title}</span>
        </button>
      </div>
      <div id={id} class="entry-open" hidden={!(isOpen && isKnown)}>
        {isOpen && isKnown && <Item item={item} isNested />}
      </div>
    </li>
  );
};
