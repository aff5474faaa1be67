import { useEffect, useRef } from 'preact/hooks';
import { ApiFailure, type ResourceInformation, type WaitOptions } from '../../api/index.ts';
import { chooseFolder } from '../../download/index.ts';
import { type Choice, choicesOf, type PlaylistFormat, selectForPlaylist } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Cover } from '../controls/index.ts';
import type { DeferredChoice } from '../downloads-state.ts';
import { hasVersions, useEntries } from './entries.ts';
import { PlaylistEntry } from './playlist-entry.tsx';
import { PlaylistToolbar } from './playlist-toolbar.tsx';
import { useRetainedState } from './use-retained-state.ts';

export interface PlaylistProps {
  readonly resource: ResourceInformation;
  /** Links entered together: resolved at once, and without numbers in file names. */
  readonly isBatch?: boolean;
}

/** A playlist: select entries and download them, or expand one. */
export const Playlist = ({ resource, isBatch }: PlaylistProps) => {
  const { texts, formats, fileNames, downloads, announcement, primaryAction } = usePage();
  const { t } = texts;
  const entries = useEntries(resource, { resolvesAll: isBatch });
  const count = entries.all.length;
  const [picked, setPicked] = useRetainedState<ReadonlySet<number>>(
    resource,
    'picked',
    () => new Set(entries.all.keys()),
  );
  const [format, setFormat] = useRetainedState<PlaylistFormat>(resource, 'format', () => 'recommended');
  const isChoosing = useRef(false);

  const pick = (index: number, isPicked: boolean) => {
    const next = new Set(picked);
    if (isPicked) next.add(index);
    else next.delete(index);
    setPicked(next);
  };
  const order = (index: number): Choice | DeferredChoice | undefined => {
    const { item } = entries.all[index] ?? {};
    const options = {
      place: isBatch ? undefined : { number: index + 1, count },
      pattern: fileNames.pattern.get(),
      preference: formats.get(),
    };
    if (item && hasVersions(item)) return selectForPlaylist(choicesOf(item, options), format);
    const find = async (waitOptions: WaitOptions) => {
      const choice = selectForPlaylist(choicesOf(await entries.find(index, waitOptions), options), format);
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

  const title = resource.title ?? t(isBatch ? 'batch.title' : 'item.untitled');
  return (
    <article aria-label={title}>
      <div class={isBatch ? 'playlist-head batch' : 'playlist-head'}>
        {!isBatch && <Cover url={resource.coverUrl ?? entries.all[0]?.item.coverUrl} />}
        <div>
          <h2 dir="auto">{title}</h2>
          <p class="byline">
            {resource.author && <bdi>{resource.author}</bdi>}
            <span>{t('list.count', { count })}</span>
          </p>
        </div>
      </div>
      {count === 0 ? (
        <p>{t('list.none')}</p>
      ) : (
        <div class="panel">
          <PlaylistToolbar
            count={count}
            pickedCount={picked.size}
            format={format}
            onPickAll={(isAll) => setPicked(new Set(isAll ? entries.all.keys() : []))}
            onFormat={setFormat}
            onDownload={downloadPicked}
          />
          <ol>
            {entries.all.map((entry, index) => (
              <PlaylistEntry
                key={index}
                entry={entry}
                place={isBatch ? undefined : { number: index + 1, count }}
                isPicked={picked.has(index)}
                onPick={(isPicked) => pick(index, isPicked)}
                onDownload={() => void download([index])}
                onLookUp={() => entries.lookUp(index)}
                onStop={() => entries.stop(index)}
              />
            ))}
          </ol>
        </div>
      )}
    </article>
  );
};
