import '../../styles/playlist.css';
import { useEffect, useState } from 'preact/hooks';
import { ApiFailure, type ResolvedLink } from '../../api/index.ts';
import { choicesOf, fileNameOf, type PlaylistFormat, selectForPlaylist } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { loadOffers } from '../conversions/index.ts';
import { DownloadNote } from '../item/index.ts';
import { hasVersions, useEntries } from './entries.ts';
import { PlaylistEntry, UnavailableEntry } from './playlist-entry.tsx';
import { PlaylistHead } from './playlist-head.tsx';
import { PlaylistLinks, usePlaylistUrls } from './playlist-links.tsx';
import { countNotesOf, matches, rowsOfPlaylist, useIncrementalCount } from './playlist-rows.ts';
import { PlaylistToolbar } from './playlist-toolbar.tsx';
import { useRetainedState } from './use-retained-state.ts';

export interface PlaylistProps {
  readonly resource: ResolvedLink;
  /** The list's link; a batch has none. */
  readonly link?: string;
  /** Links entered together: resolved at once, and without numbers in file names. */
  readonly isBatch?: boolean;
}

/** A playlist: select entries and download them, or expand one. */
export const Playlist = ({ resource, link, isBatch = false }: PlaylistProps) => {
  const { api, texts, formats, fileNames, downloads, primaryAction } = usePage();
  const { t } = texts;
  const title = resource.title ?? t(isBatch ? 'batch.title' : 'item.untitled');
  const entries = useEntries(resource, { resolvesAll: isBatch, link });
  const count = entries.all.length;
  const [picked, setPicked] = useRetainedState<ReadonlySet<number>>(
    resource,
    'picked',
    () => new Set(entries.all.keys()),
  );
  const [format, setFormat] = useRetainedState<PlaylistFormat>(resource, 'format', () => 'recommended');
  const { zip } = usePlaylistUrls({ link: link ?? '', format });
  /** The file of each entry whose download was started. */
  const [urls, setUrls] = useState<ReadonlyMap<number, string>>(new Map());
  const [filter, setFilter] = useState('');
  const allRows = rowsOfPlaylist(count, resource.counts?.unavailable);
  const rows = allRows.filter(({ index }) => {
    const entry = index === undefined ? undefined : entries.all[index];
    return filter.trim() === '' || (entry && matches(entry, filter.trim()));
  });
  const shownIndexes = rows.flatMap(({ index }) => index ?? []);
  const rowCount = useIncrementalCount(rows.length);
  const placeAt = (number: number) => (isBatch ? undefined : { number, count: allRows.length });

  const pick = (index: number, isPicked: boolean) => {
    const next = new Set(picked);
    if (isPicked) next.add(index);
    else next.delete(index);
    setPicked(next);
  };
  /** Starts the download of an entry. The row says why it cannot be resolved. */
  const downloadEntry = async (index: number): Promise<void> => {
    const found = await entries.lookUp(index);
    if (!found) return;
    const options = {
      place: placeAt(allRows.find((row) => row.index === index)?.number ?? index + 1),
      pattern: fileNames.pattern.get(),
      preference: formats.get(),
      offers: await loadOffers(api),
    };
    const choice = selectForPlaylist(choicesOf(found, options), format);
    if (!choice) return entries.fail(index, new ApiFailure('not-found'));
    const file = downloads.fileOf(choice);
    setUrls((before) => new Map(before).set(index, file.url));
    const { title: name, author, coverUrl, requestedUrl } = found;
    await downloads.start(file, { link: requestedUrl, title: name, author, coverUrl });
  };
  const download = async (indexes: readonly number[]) => {
    setPicked(new Set([...picked].filter((index) => !indexes.includes(index))));
    if (link && indexes.length === count && count > 1) {
      const { author = null, coverUrl = null } = resource;
      const file = { url: zip, fileName: fileNameOf({ title, author }, '.zip') };
      return downloads.start(file, { link, title, author, coverUrl });
    }
    // One after the other: an instance limits the streams of a client.
    for (const index of indexes) await downloadEntry(index);
  };

  const downloadPicked = () => void download([...picked].sort((a, b) => a - b));
  useEffect(() => {
    primaryAction.current = () => picked.size > 0 && downloadPicked();
    return () => {
      primaryAction.current = undefined;
    };
  });

  const pendingCount = entries.all.filter(({ item, failure }) => !hasVersions(item) && !failure).length;
  const notes = countNotesOf(count, pendingCount, resource.counts);
  return (
    <article aria-label={title}>
      <PlaylistHead title={title} resource={resource} count={count} notes={notes} isBatch={isBatch} />
      {link && count > 0 && <PlaylistLinks link={link} format={format} />}
      {count === 0 ? (
        <p>{t('list.none')}</p>
      ) : (
        <div class="panel">
          <PlaylistToolbar
            count={count}
            pickedCount={picked.size}
            allPicked={shownIndexes.every((index) => picked.has(index))}
            filter={filter}
            onFilter={setFilter}
            format={format}
            onPickAll={(isAll) => {
              const others = [...picked].filter((index) => !shownIndexes.includes(index));
              setPicked(new Set(isAll ? [...others, ...shownIndexes] : others));
            }}
            onFormat={setFormat}
            onDownload={downloadPicked}
          />
          <DownloadNote url={zip} />
          <ol>
            {rows.slice(0, rowCount).map(({ number, index }) => {
              const entry = index === undefined ? undefined : entries.all[index];
              if (index === undefined || !entry) return <UnavailableEntry key={`gone ${number}`} number={number} />;
              return (
                <PlaylistEntry
                  key={index}
                  entry={entry}
                  place={placeAt(number)}
                  url={urls.get(index)}
                  isPicked={picked.has(index)}
                  onPick={(isPicked) => pick(index, isPicked)}
                  onDownload={() => void download([index])}
                  onLookUp={() => entries.lookUp(index)}
                  onStop={() => entries.stop(index)}
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
