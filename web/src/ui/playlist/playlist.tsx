import { useRef } from 'preact/hooks';
import { ApiFailure, type ResourceInformation, type WaitOptions } from '../../api/index.ts';
import { chooseFolder } from '../../download/index.ts';
import { type Choice, choicesOf } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Cover } from '../controls/index.ts';
import type { DeferredChoice } from '../downloads-state.ts';
import { hasVersions, useEntries } from './entries.ts';
import { PlaylistEntry } from './playlist-entry.tsx';
import { PlaylistToolbar } from './playlist-toolbar.tsx';
import { type Preference, preferred } from './preference.ts';
import { useRetainedState } from './use-retained-state.ts';

/** A playlist: select entries and download them, or expand one. */
export const Playlist = ({ resource }: { readonly resource: ResourceInformation }) => {
  const { texts, downloads, announcement } = usePage();
  const { t } = texts;
  const entries = useEntries(resource);
  const [picked, setPicked] = useRetainedState<ReadonlySet<number>>(resource, 'picked', () => new Set());
  const [preference, prefer] = useRetainedState<Preference>(resource, 'preference', () => 'best');
  const isChoosing = useRef(false);

  const pick = (index: number, isPicked: boolean) => {
    const next = new Set(picked);
    if (isPicked) next.add(index);
    else next.delete(index);
    setPicked(next);
  };
  const order = (index: number): Choice | DeferredChoice | undefined => {
    const { item } = entries.all[index] ?? {};
    if (item && hasVersions(item)) return preferred(choicesOf(item), preference);
    const find = async (options: WaitOptions) => {
      const choice = preferred(choicesOf(await entries.find(index, options)), preference);
      if (!choice) throw new ApiFailure('not-found');
      return choice;
    };
    return item && { name: item.title ?? t('item.untitled'), find };
  };
  const take = async () => {
    // A second click must not open a second picker.
    if (isChoosing.current) return;
    isChoosing.current = true;
    // The picker was dismissed.
    const sink = await chooseFolder().catch(() => undefined);
    isChoosing.current = false;
    if (!sink) return;
    const orders = [...picked].sort((a, b) => a - b).flatMap((index) => order(index) ?? []);
    // Unresolved entries may have to wait: resolved ones go first.
    const [known, later] = [orders.filter((one) => !('find' in one)), orders.filter((one) => 'find' in one)];
    for (const one of [...known, ...later]) downloads.enqueue(one, sink);
    setPicked(new Set());
    announcement.set(t('say.downloadsAdded', { count: orders.length }));
  };

  const title = resource.title ?? t('item.untitled');
  const count = entries.all.length;
  return (
    <article aria-label={title}>
      <div class="playlist-head">
        <Cover url={resource.coverUrl ?? entries.all[0]?.item.coverUrl} />
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
            preference={preference}
            onPickAll={(isAll) => setPicked(new Set(isAll ? entries.all.keys() : []))}
            onPrefer={prefer}
            onTake={take}
          />
          <ol>
            {entries.all.map((entry, index) => (
              <PlaylistEntry
                key={index}
                entry={entry}
                isPicked={picked.has(index)}
                onPick={(isPicked) => pick(index, isPicked)}
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
