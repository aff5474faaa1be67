import '../../styles/playlist.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiFailure, type ResolvedLink, type WaitOptions } from '../../api/index.ts';
import { chooseFolder } from '../../download/index.ts';
import { type Choice, choicesOf, type PlaylistFormat, selectForPlaylist } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { loadOffers, useOffers } from '../conversions/index.ts';
import type { DeferredChoice } from '../downloads-state.ts';
import { hasVersions, useEntries } from './entries.ts';
import { PlaylistEntry, UnavailableEntry } from './playlist-entry.tsx';
import { PlaylistHead } from './playlist-head.tsx';
import { PlaylistLinks } from './playlist-links.tsx';
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
  const { api, texts, formats, fileNames, downloads, announcement, primaryAction } = usePage();
  const { t } = texts;
  const entries = useEntries(resource, { resolvesAll: isBatch, link });
  const offers = useOffers();
  const count = entries.all.length;
  const [picked, setPicked] = useRetainedState<ReadonlySet<number>>(
    resource,
    'picked',
    () => new Set(entries.all.keys()),
  );
  const [format, setFormat] = useRetainedState<PlaylistFormat>(resource, 'format', () => 'recommended');
  const isChoosing = useRef(false);
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
  const order = (index: number): Choice | DeferredChoice | undefined => {
    const { item } = entries.all[index] ?? {};
    const options = {
      place: placeAt(allRows.find((row) => row.index === index)?.number ?? index + 1),
      pattern: fileNames.pattern.get(),
      preference: formats.get(),
      offers,
    };
    if (item && hasVersions(item)) return selectForPlaylist(choicesOf(item, options), format);
    const find = async (waitOptions: WaitOptions) => {
      const found = await entries.find(index, waitOptions);
      const choice = selectForPlaylist(choicesOf(found, { ...options, offers: await loadOffers(api) }), format);
      if (!choice) throw new ApiFailure('not-found');
      return choice;
    };
    const link = item?.requestedUrl ?? '';
    return item && { name: item.title ?? (link || t('item.untitled')), link, format, place: options.place, find };
  };
  const download = async (indexes: readonly number[]) => {
    // A second click must not open a second picker.
    if (isChoosing.current) return;
    isChoosing.current = true;
    // The picker was dismissed.
    const sink = await chooseFolder().catch(() => undefined);
    isChoosing.current = false;
    if (!sink) return;
    const orders = indexes.flatMap((index) => order(index) ?? []);
    // Unresolved entries may have to wait: resolved ones go first.
    const [known, later] = [orders.filter((one) => !('find' in one)), orders.filter((one) => 'find' in one)];
    for (const one of [...known, ...later]) downloads.enqueue(one, sink);
    setPicked(new Set([...picked].filter((index) => !indexes.includes(index))));
    announcement.set(t('say.downloadsAdded', { count: orders.length }));
  };

  const downloadPicked = () => download([...picked].sort((a, b) => a - b));
  useEffect(() => {
    primaryAction.current = () => void (picked.size > 0 && downloadPicked());
    return () => {
      primaryAction.current = undefined;
    };
  });

  const pendingCount = entries.all.filter(({ item, failure }) => !hasVersions(item) && !failure).length;
  const notes = countNotesOf(count, pendingCount, resource.counts);
  const title = resource.title ?? t(isBatch ? 'batch.title' : 'item.untitled');
  return (
    <article aria-label={title}>
      <PlaylistHead title={title} resource={resource} count={count} notes={notes} isBatch={isBatch} />
      {link && count > 0 && (
        <PlaylistLinks {...{ link, title, format }} author={resource.author ?? null} count={allRows.length} />
      )}
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
          <ol>
            {rows.slice(0, rowCount).map(({ number, index }) => {
              const entry = index === undefined ? undefined : entries.all[index];
              if (index === undefined || !entry) return <UnavailableEntry key={`gone ${number}`} number={number} />;
              return (
                <PlaylistEntry
                  key={index}
                  entry={entry}
                  place={placeAt(number)}
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
