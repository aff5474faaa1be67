import '../../styles/playlist.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ResolvedLink } from '../../api/index.ts';
import { fileNameOf, type PlaylistFormat } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { DownloadNote } from '../item/index.ts';
import { isPending, useEntries } from './entries.ts';
import { useEntryFiles } from './entry-files.ts';
import { type EntryActions, PlaylistEntry, UnavailableEntry } from './playlist-entry.tsx';
import { PlaylistHead } from './playlist-head.tsx';
import { PlaylistLinks } from './playlist-links.tsx';
import { countNotesOf, matches, type PlaylistRow, rowsOfPlaylist, useIncrementalCount } from './playlist-rows.ts';
import { PlaylistFilter, PlaylistToolbar } from './playlist-toolbar.tsx';
import { usePlaylistUrls } from './playlist-urls.ts';
import { useSelection } from './selection.ts';
import { useRetainedState } from './use-retained-state.ts';

export interface PlaylistProps {
  readonly resource: ResolvedLink;
  /** The list's link; a batch has none. */
  readonly link?: string;
  /** Links entered together: resolved at once, and without numbers in file names. */
  readonly isBatch?: boolean;
}

/** Shorter lists are seen at a glance. */
const MIN_FILTERED_ENTRIES = 10;

/** A playlist: select entries and download them, or expand one. */
export const Playlist = ({ resource, link, isBatch = false }: PlaylistProps) => {
  const { texts, downloads, primaryAction } = usePage();
  const { t } = texts;
  const title = resource.title ?? t(isBatch ? 'batch.title' : 'item.untitled');
  const entries = useEntries(resource, { link });
  const [format, setFormat] = useRetainedState<PlaylistFormat>(resource, 'format', () => 'recommended');
  const [filter, setFilter] = useState('');
  const allRows = rowsOfPlaylist(entries.all, resource.counts?.unavailable);
  const indexes = allRows.flatMap(({ index }) => index ?? []);
  const count = indexes.length;
  const rows = allRows.filter(({ index }) => {
    const entry = index === undefined ? undefined : entries.all[index];
    return filter.trim() === '' || (entry && matches(entry, filter.trim()));
  });
  const shown = rows.flatMap(({ index }) => index ?? []);
  const selection = useSelection(resource, entries.all.length, shown);
  const { picked } = selection;
  const rowCount = useIncrementalCount(rows.length, filter);
  const placeAt = (number: number) => (isBatch ? undefined : { number, count: allRows.length });
  const numbers = allRows.flatMap(({ index, number }) => (index !== undefined && picked.has(index) ? number : []));
  const pickedIndexes = indexes.filter((index) => picked.has(index));
  const urls = usePlaylistUrls({ link: link ?? '', format, numbers: numbers.length === count ? undefined : numbers });
  const zip = link && count > 1 && numbers.length > 1 ? urls.zip : undefined;
  const files = useEntryFiles(entries, { format, placeOf: (index) => placeAt(numberOf(allRows, index)) });

  const download = () => {
    const { author = null, coverUrl = null } = resource;
    if (!zip || !link) return void files.downloadAll(pickedIndexes);
    void downloads.start(
      { url: zip, fileName: fileNameOf({ title, author }, '.zip') },
      { link, title, author, coverUrl },
    );
  };
  useEffect(() => {
    primaryAction.current = () => numbers.length > 0 && download();
    return () => {
      primaryAction.current = undefined;
    };
  });
  const latest = useRef({ pick: selection.pick, download: files.download, lookUp: entries.lookUp, stop: entries.stop });
  latest.current = { pick: selection.pick, download: files.download, lookUp: entries.lookUp, stop: entries.stop };
  const actions = useMemo<EntryActions>(
    () => ({
      pick: (...change) => latest.current.pick(...change),
      download: (index) => void latest.current.download(index),
      lookUp: (index) => void latest.current.lookUp(index),
      stop: (index) => latest.current.stop(index),
    }),
    [],
  );

  const unavailable = allRows.flatMap(({ index, number }) => (index === undefined ? number : []));
  const counts = { isCut: false, ...resource.counts, unavailable };
  const notes = countNotesOf(count, entries.all.filter(isPending).length, counts);
  const mayBeMissing = (index: number) => {
    const entry = entries.all[index];
    return entry?.failure !== undefined || (entry !== undefined && isPending(entry));
  };
  const openingZip = useObservable(downloads.states).get(zip ?? '')?.phase === 'opening';
  return (
    <article aria-label={title}>
      <PlaylistHead title={title} resource={resource} count={count} notes={notes} isBatch={isBatch} />
      {count >= MIN_FILTERED_ENTRIES && (
        <div class="row playlist-tools">
          <PlaylistFilter filter={filter} onFilter={setFilter} />
        </div>
      )}
      {count === 0 ? (
        <p>{t('list.none')}</p>
      ) : (
        <div class="panel">
          <PlaylistToolbar
            count={count}
            pickedCount={numbers.length}
            mayMiss={zip !== undefined && pickedIndexes.some(mayBeMissing)}
            sizeBytes={rowCount < rows.length ? undefined : files.bytesOf(pickedIndexes)}
            allPicked={shown.every((index) => picked.has(index))}
            format={format}
            isOpening={openingZip}
            onPickAll={selection.pickAll}
            onFormat={setFormat}
            onDownload={download}
          >
            {link && <PlaylistLinks {...urls} title={title} isPicked={numbers.length > 0} />}
          </PlaylistToolbar>
          <DownloadNote url={zip} link={link} />
          <ol onKeyDown={selection.onKeyDown}>
            {rows.slice(0, rowCount).map(({ number, index, failure }) => {
              const entry = index === undefined ? undefined : entries.all[index];
              if (index === undefined || !entry)
                return <UnavailableEntry key={`gone ${number}`} number={number} failure={failure} />;
              return (
                <PlaylistEntry
                  key={index}
                  index={index}
                  entry={entry}
                  choice={files.choiceOf(index)}
                  place={placeAt(number)}
                  url={files.urls.get(index)}
                  isPicked={picked.has(index)}
                  actions={actions}
                />
              );
            })}
          </ol>
          {rows.length === 0 && (
            <p class="entry" role="status">
              {t('list.noMatch')}
            </p>
          )}
        </div>
      )}
    </article>
  );
};

const numberOf = (rows: readonly PlaylistRow[], index: number): number =>
  rows.find((row) => row.index === index)?.number ?? index + 1;
