import { useEffect, useRef, useState } from 'preact/hooks';
import { choicesOf } from '../lib/choices.ts';
import type { ResourceInformation } from '../lib/contract.ts';
import { chooseFolder } from '../lib/sinks.ts';
import { usePage } from './context.ts';
import { Cover } from './cover.tsx';
import { useEntries } from './entries.ts';
import { PlaylistEntry } from './playlist-entry.tsx';
import { PlaylistToolbar } from './playlist-toolbar.tsx';
import { type Preference, preferred } from './preference.ts';

/** A list: pick some of its entries, take them one after another, or open one. */
export const Playlist = ({ resource }: { readonly resource: ResourceInformation }) => {
  const { texts, downloads } = usePage();
  const { t } = texts;
  const entries = useEntries(resource);
  const [picked, setPicked] = useState<ReadonlySet<number>>(new Set());
  const [preference, prefer] = useState<Preference>('best');
  const isHere = useRef(true);
  useEffect(
    () => () => {
      isHere.current = false;
    },
    [],
  );

  const pick = (index: number, isPicked: boolean) => {
    const next = new Set(picked);
    if (isPicked) next.add(index);
    else next.delete(index);
    setPicked(next);
  };
  const take = async () => {
    // Choosing nothing is an answer too.
    const sink = await chooseFolder().catch(() => undefined);
    if (!sink) return;
    for (const index of [...picked].sort((a, b) => a - b)) {
      const item = await entries.lookUp(index);
      if (!isHere.current) return;
      const choice = item && preferred(choicesOf(item), preference);
      if (choice) downloads.enqueue(choice, sink);
    }
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
              />
            ))}
          </ol>
        </div>
      )}
    </article>
  );
};
