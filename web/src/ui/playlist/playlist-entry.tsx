import type { RefObject } from 'preact';
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { type Choice, secondsOf } from '../../renditions/index.ts';
import type { TextKey } from '../../texts.ts';
import { usePage } from '../context.ts';
import { Button } from '../controls.tsx';
import { Cover } from '../cover.tsx';
import { sizeName } from '../details.ts';
import { DownloadNote } from '../download-note.tsx';
import { failureText } from '../failure-text.ts';
import { Item } from '../item/index.ts';
import { NextTry } from '../next-try.tsx';
import { type Entry, hasVersions, isPending } from './entries.ts';
import type { ListedRow, PlaylistRow } from './playlist-rows.ts';

interface PlaylistEntryProps extends ListedRow {
  /** The file of the list's format; undefined while it is not known. */
  readonly choice: Choice | undefined;
  /** The length of a list whose entries have numbers. */
  readonly count: number | undefined;
  /** The URL of its download, once that was started. */
  readonly url: string | undefined;
  readonly isPicked: boolean;
  /** It cannot be picked. */
  readonly isOff: boolean;
  /** The filter does not match it. */
  readonly isHidden: boolean;
  readonly actions: EntryActions;
}

/** By the index of an entry; the same object in every rendering. */
export interface EntryActions {
  pick(index: number, isPicked: boolean, isRange: boolean): void;
  download(index: number): void;
  lookUp(index: number): void;
  /** Stops a resolve that waits. */
  stop(index: number): void;
  /** Whether a row without renditions is in sight. */
  see(index: number, isSeen: boolean): void;
}

/** One entry of a playlist. Lists are long: its row is rendered again only when its props change, and the filter hides it without that. */
export const PlaylistEntry = ({ isHidden, ...props }: PlaylistEntryProps) => {
  const { index, entry, actions } = props;
  const place = useRef<HTMLLIElement>(null);
  const close = useRef<() => void>(undefined);
  // What its item plays continues in the mini player.
  useEffect(() => {
    if (isHidden) close.current?.();
  }, [isHidden]);
  const isAwaited = isPending(entry);
  useEffect(() => {
    if (!isAwaited || !place.current) return;
    const observer = new IntersectionObserver((changes) => actions.see(index, changes.at(-1)?.isIntersecting === true));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [isAwaited]);
  const row = useMemo(() => <Row {...props} close={close} />, Object.values(props));
  return (
    <li class="entry" hidden={isHidden} ref={place}>
      {row}
    </li>
  );
};

interface RowProps extends Omit<PlaylistEntryProps, 'isHidden'> {
  /** Set by the row. */
  readonly close: RefObject<(() => void) | undefined>;
}

/** An entry; expanded, its renditions. */
const Row = ({ index, number, entry, choice, count, url, isPicked, isOff, actions, close }: RowProps) => {
  const { t } = usePage();
  const [isOpen, setOpen] = useState(false);
  /** How often Play was pressed: each time a new item is mounted, which starts playing. */
  const [plays, setPlays] = useState(0);
  const id = useId();
  close.current = () => {
    setOpen(false);
    setPlays(0);
  };
  const { item, isLooking, waiting, failure } = entry;
  const title = item.title ?? item.requestedUrl ?? t('item.untitled');
  const isKnown = hasVersions(item);
  const isBusy = isLooking && !waiting;
  const act = () => {
    if (isBusy) return;
    setPlays(0);
    if (waiting) actions.stop(index);
    else if (!isKnown) actions.lookUp(index);
    setOpen(waiting ? false : failure ? true : !isOpen);
  };
  return (
    <>
      <div class="entry-row">
        <label class="entry-select">
          <input
            type="checkbox"
            class="checkbox"
            value={index}
            aria-label={t('list.pick', { title })}
            checked={isPicked}
            disabled={isOff}
            onClick={({ currentTarget, shiftKey }) => actions.pick(index, currentTarget.checked, shiftKey)}
          />
        </label>
        <EntryCover number={count && number} item={item} />
        <div class="entry-text">
          <h3 dir="auto">{title}</h3>
          <EntryNote entry={entry} choice={choice} />
        </div>
        <div class="entry-actions">
          <Button
            icon="download"
            name={t('action.downloadNamed', { label: title })}
            title={t('action.download')}
            onClick={() => actions.download(index)}
          />
          {isKnown && (
            <Button
              look="plain small shortcut"
              icon="play"
              name={t('action.playNamed', { title })}
              title={t('action.play')}
              onClick={() => {
                setPlays(plays + 1);
                setOpen(true);
              }}
            />
          )}
          <Button
            look="plain small opener"
            icon={waiting ? 'close' : failure ? 'retry' : isOpen && isKnown ? 'less' : 'all'}
            name={`${t(actionText(entry, isOpen))} ${title}`}
            title={t(actionText(entry, isOpen))}
            aria-expanded={isKnown && isOpen}
            aria-controls={id}
            // A disabled button would lose the focus.
            aria-disabled={isBusy}
            onClick={act}
          />
        </div>
      </div>
      {url && <DownloadNote url={url} link={item.requestedUrl} />}
      <div id={id} class="entry-details" hidden={!(isOpen && isKnown)}>
        {isOpen && isKnown && (
          <Item
            key={plays}
            item={item}
            place={count ? { number, count } : undefined}
            isNested
            startsPlaying={plays > 0}
          />
        )}
      </div>
    </>
  );
};

function actionText({ item, waiting, failure }: Entry, isOpen: boolean): TextKey {
  if (waiting) return 'action.cancel';
  if (failure) return 'action.retry';
  if (!hasVersions(item)) return 'list.lookUp';
  return isOpen ? 'list.close' : 'list.open';
}

const EntryCover = ({ number, item }: Partial<Pick<PlaylistRow, 'number'>> & Pick<Entry, 'item'>) => (
  <div class="entry-cover">
    <Cover url={item.coverUrl} link={item.requestedUrl} isSmall />
    {number !== undefined && <span class="entry-number figures">{number}</span>}
  </div>
);

interface UnavailableRowProps extends Pick<PlaylistRow, 'number' | 'gone'> {
  readonly isHidden: boolean;
}

/** The place of an entry that is gone, private or protected: one line. */
export const UnavailableRow = ({ number, gone: { title, url, reason } = {}, isHidden }: UnavailableRowProps) => {
  const { t, texts } = usePage();
  return (
    <li class="entry unavailable" hidden={isHidden}>
      <span class="figures">{number}</span>
      {url && (
        <a href={url} target="_blank" rel="noreferrer" dir="auto">
          {title ?? url}
        </a>
      )}
      <span>{reason ? failureText(texts, { kind: 'not-found', problem: reason }).title : t('list.unavailable')}</span>
    </li>
  );
};

/** Author, duration and size, or the state of the entry's resolve. */
const EntryNote = ({ entry, choice }: Pick<PlaylistEntryProps, 'entry' | 'choice'>) => {
  const { t, texts, format } = usePage();
  const { item, isQueued, isLooking, waiting, failure } = entry;
  if (failure) {
    return (
      <p class="error-text" role="alert">
        {failureText(texts, failure).title}
      </p>
    );
  }
  if (waiting) {
    return (
      <p>
        <span role="status">{t(`waiting.${waiting.reason}`)}</span>
        <NextTry waiting={waiting} />
      </p>
    );
  }
  if (!hasVersions(item)) return <p>{t(isLooking || isQueued ? 'list.looking' : 'list.noVersions')}</p>;
  const seconds = secondsOf(item);
  const size = choice && sizeName(choice, texts, format);
  return (
    <p>
      {seconds !== undefined && <span>{format.clock(seconds)}</span>}
      {size && <span>{size}</span>}
      {item.author && <bdi>{item.author}</bdi>}
    </p>
  );
};
