import { useId, useState } from 'preact/hooks';
import type { TextKey } from '../../lib/index.ts';
import { usePage } from '../context.ts';
import { Cover, Icon, NextTry } from '../controls/index.ts';
import { failureText } from '../failure-text.ts';
import { DownloadNote, Item } from '../item/index.ts';
import { type Entry, hasVersions } from './entries.ts';

export interface PlaylistEntryProps {
  readonly entry: Entry;
  /** One-based place in the playlist and its length. */
  readonly place?: { readonly number: number; readonly count: number };
  /** Of the file whose download was started. */
  readonly url?: string;
  readonly isPicked: boolean;
  readonly onPick: (isPicked: boolean) => void;
  readonly onDownload: () => void;
  readonly onLookUp: () => Promise<unknown>;
  /** Stops a resolve that waits. */
  readonly onStop: () => void;
}

/** One entry of a playlist; expanded, its renditions. */
export const PlaylistEntry = ({
  entry,
  place,
  url,
  isPicked,
  onPick,
  onDownload,
  onLookUp,
  onStop,
}: PlaylistEntryProps) => {
  const { t } = usePage().texts;
  const [isOpen, setOpen] = useState(false);
  /** How often Play was pressed: each time a new item is mounted, which starts playing. */
  const [plays, setPlays] = useState(0);
  const id = useId();
  const { item, isLooking, waiting, failure } = entry;
  const title = item.title ?? item.requestedUrl ?? t('item.untitled');
  const isKnown = hasVersions(item);
  const isBusy = isLooking && !waiting;
  const act = () => {
    if (isBusy) return;
    setPlays(0);
    if (waiting) onStop();
    else if (!isKnown) void onLookUp();
    setOpen(waiting ? false : failure ? true : !isOpen);
  };
  return (
    <li class="entry">
      <div class="entry-row">
        <label class="entry-select">
          <input
            type="checkbox"
            class="checkbox"
            aria-label={t('list.pick', { title })}
            checked={isPicked}
            onChange={({ currentTarget }) => onPick(currentTarget.checked)}
          />
        </label>
        <EntryCover number={place?.number} url={item.coverUrl} />
        <div class="entry-text">
          <h3 dir="auto">{title}</h3>
          <EntryNote entry={entry} />
          {url && <DownloadNote url={url} />}
        </div>
        <div class="entry-actions">
          <button
            type="button"
            class="button plain small square"
            aria-label={t('action.downloadNamed', { label: title })}
            title={t('action.download')}
            onClick={onDownload}
          >
            <Icon name="download" />
          </button>
          {isKnown && (
            <button
              type="button"
              class="button plain small square"
              aria-label={t('action.playNamed', { title })}
              title={t('action.play')}
              onClick={() => {
                setPlays(plays + 1);
                setOpen(true);
              }}
            >
              <Icon name="play" />
            </button>
          )}
          <button
            type="button"
            class="button small"
            aria-expanded={isKnown && isOpen}
            aria-controls={id}
            // A disabled button would lose the focus.
            aria-disabled={isBusy}
            onClick={act}
          >
            <Icon name={waiting ? 'close' : failure ? 'retry' : 'all'} />
            <span class="word">{t(actionText(entry, isOpen))}</span>
            <span class="visually-hidden">{title}</span>
          </button>
        </div>
      </div>
      <div id={id} class="entry-details" hidden={!(isOpen && isKnown)}>
        {isOpen && isKnown && <Item key={plays} item={item} place={place} isNested startsPlaying={plays > 0} />}
      </div>
    </li>
  );
};

function actionText({ item, waiting, failure }: Entry, isOpen: boolean): TextKey {
  if (waiting) return 'waiting.stop';
  if (failure) return 'action.retry';
  if (!hasVersions(item)) return 'list.lookUp';
  return isOpen ? 'list.close' : 'list.open';
}

const EntryCover = ({ number, url }: { readonly number?: number; readonly url: string | null }) => (
  <div class="entry-cover">
    <Cover url={url} isSmall />
    {number !== undefined && <span class="entry-number figures">{number}</span>}
  </div>
);

/** The place of an entry that is gone, private or protected. */
export const UnavailableEntry = ({ number }: { readonly number: number }) => {
  const { t } = usePage().texts;
  return (
    <li class="entry unavailable">
      <div class="entry-row">
        <span class="entry-select" />
        <EntryCover number={number} url={null} />
        <p class="entry-text">{t('list.unavailable')}</p>
      </div>
    </li>
  );
};

/** The author, or the state of the entry's resolve. */
const EntryNote = ({ entry }: { readonly entry: Entry }) => {
  const { texts } = usePage();
  const { t } = texts;
  const { item, isLooking, waiting, failure } = entry;
  if (failure) {
    return (
      <p class="error-text" role="alert">
        {failureText(texts, failure).title}
      </p>
    );
  }
  if (waiting) {
    return (
      <>
        <p role="status">{t(`waiting.${waiting.reason}`)}</p>
        <p>
          <NextTry waiting={waiting} />
        </p>
      </>
    );
  }
  const known = item.author ?? (hasVersions(item) ? '' : t('list.noVersions'));
  return <p dir="auto">{isLooking ? t('list.looking') : known}</p>;
};
