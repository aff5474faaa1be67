import '../../styles/playlist.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ArchiveProgress, ResolvedLink } from '../../api/index.ts';
import { useObservable, usePage } from '../context.ts';
import { DownloadNote } from '../item/index.ts';
import { askable, selectionOf, useSignedUrls } from '../signed-urls.ts';
import { isPending, useEntries } from './entries.ts';
import { useEntryFiles } from './entry-files.ts';
import { type EntryActions, PlaylistEntry, UnavailableEntry } from './playlist-entry.tsx';
import { PlaylistHead } from './playlist-head.tsx';
import { PlaylistLinks } from './playlist-links.tsx';
import { isListed, matches, rowsOfPlaylist, useIncrementalCount } from './playlist-rows.ts';
import { FORMATS, type PlaylistFormat, PlaylistToolbar } from './playlist-toolbar.tsx';
import { formatNumbers, useSelection } from './selection.ts';
import { useArchiveProgress } from './use-archive-progress.ts';
import { useRetainedState } from './use-retained-state.ts';

export interface PlaylistProps {
  readonly resource: ResolvedLink;
  /** The list's link; absent for links entered together, whose files have no numbers. */
  readonly link?: string;
}

/** Shorter lists are seen at a glance. */
const MIN_FILTERED_ENTRIES = 10;

/** A playlist: select entries and download them, or expand one. */
export const Playlist = ({ resource, link }: PlaylistProps) => {
  const { texts, formats, downloads, primaryAction } = usePage();
  const { t } = texts;
  const isBatch = link === undefined;
  const title = resource.title ?? t(isBatch ? 'batch.title' : 'item.untitled');
  const entries = useEntries(resource, { link });
  const [format, setFormat] = useRetainedState<PlaylistFormat>(resource, 'format', () => 'recommended');
  const [filter, setFilter] = useState('');
  const words = filter.trim();
  const rows = rowsOfPlaylist(entries.all, resource.counts?.unavailable);
  const listed = rows.filter(isListed);
  const shown = listed.flatMap(({ index, entry }) => (words === '' || matches(entry, words) ? index : []));
  const visible = new Set(shown);
  const selection = useSelection(resource, entries.all.length, shown);
  const { picked } = selection;
  const pickedRows = listed.filter(({ index }) => picked.has(index));
  const rowCount = useIncrementalCount(rows.length);
  const count = isBatch ? undefined : rows.length;
  const remembered = formats.get();
  const preference = useMemo(() => {
    const wished = { ...remembered, ...FORMATS[format] };
    return isBatch ? wished : askable(wished);
  }, [remembered, format]);
  const files = useEntryFiles(entries, { preference, listed, count });

  const urlOf = useSignedUrls(link ?? '');
  const wanted = selectionOf(preference);
  const isWhole = pickedRows.length === listed.length;
  const chosen = { ...wanted, ...(!isWhole && { entries: formatNumbers(pickedRows.map(({ number }) => number)) }) };
  const zip = link && pickedRows.length > 1 ? urlOf('Get', { ...chosen, format: 'zip' }) : undefined;
  const archive = useArchiveProgress();
  const download = async () => {
    const { title: name = null, author = null, coverUrl = null } = resource;
    if (zip && link) return downloads.start(zip, { link, title: name, author, coverUrl }, archive.follow);
    // One after the other: an instance limits the streams of a client.
    for (const { index } of pickedRows) await files.download(index);
  };
  useEffect(() => {
    primaryAction.current = () => pickedRows.length > 0 && void download();
    return () => {
      primaryAction.current = undefined;
    };
  });
  const actions = useRef({} as EntryActions).current;
  Object.assign(actions, {
    pick: selection.pick,
    download: files.download,
    lookUp: entries.lookUp,
    stop: entries.stop,
  });

  const mayMiss = pickedRows.some(({ entry }) => entry.failure !== undefined || isPending(entry));
  const openingZip = useObservable(downloads.states).get(zip ?? '')?.phase === 'opening';
  return (
    <article aria-label={title}>
      <PlaylistHead resource={resource} title={title} rows={rows} isBatch={isBatch} />
      {listed.length >= MIN_FILTERED_ENTRIES && (
        <input
          type="search"
          class="text-field filter"
          value={filter}
          placeholder={t('list.filter')}
          aria-label={t('list.filter')}
          autoComplete="off"
          enterKeyHint="done"
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      )}
      {rows.length === 0 ? (
        <p>{t('list.none')}</p>
      ) : (
        <div class="panel">
          <PlaylistToolbar
            pickedCount={pickedRows.length}
            mayMiss={zip !== undefined && mayMiss}
            sizeBytes={rowCount < rows.length ? undefined : files.bytesOf(pickedRows)}
            allPicked={shown.every((index) => picked.has(index))}
            format={format}
            isOpening={openingZip}
            onPickAll={selection.pickAll}
            onFormat={setFormat}
            onDownload={() => void download()}
          >
            {link && (
              <PlaylistLinks
                title={title}
                metalink={pickedRows.length > 0 ? urlOf('Feed', { ...chosen, format: 'metalink' }) : undefined}
                m3u8={urlOf('Feed', { ...wanted, format: 'm3u8' })}
                podcast={urlOf('Feed', {})}
              />
            )}
          </PlaylistToolbar>
          <DownloadNote url={zip} link={link} />
          {archive.progress && <ArchiveNote {...archive.progress} />}
          <ol>
            {rows.slice(0, rowCount).map((row) =>
              // Rows that do not match stay, hidden: to make all of them again at once would take too long.
              isListed(row) ? (
                <PlaylistEntry
                  key={row.index}
                  {...row}
                  choice={files.choiceOf(row)}
                  count={count}
                  url={files.urls.get(row.index)}
                  isPicked={picked.has(row.index)}
                  isHidden={!visible.has(row.index)}
                  actions={actions}
                />
              ) : (
                <UnavailableEntry key={`gone ${row.number}`} {...row} isHidden={words !== ''} />
              ),
            )}
          </ol>
          {words !== '' && shown.length === 0 && (
            <p class="entry" role="status">
              {t('list.noMatch')}
            </p>
          )}
        </div>
      )}
    </article>
  );
};

/** How far a ZIP is, and which of its entries are missing. */
const ArchiveNote = ({ state, total, completed, skipped, missingEntries }: ArchiveProgress) => {
  const { t } = usePage().texts;
  return (
    <div class="download-note">
      {state === 'building' && <p>{t('list.zipped', { count: completed, total })}</p>}
      <p role="status">
        {state === 'failed' && t('list.zipEnded')} {skipped > 0 && t('list.zipMisses', { count: skipped })}
      </p>
      {missingEntries && (
        <ul>
          {missingEntries.map((title, index) => (
            <li key={index} dir="auto">
              {title}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
};
