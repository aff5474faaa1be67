import type { ResolvedLink } from '../../api/index.ts';
import { usePage } from '../context.ts';
import { Cover } from '../controls/index.ts';
import { isPending } from './entries.ts';
import { isListed, type PlaylistRow } from './playlist-rows.ts';

export interface PlaylistHeadProps {
  readonly resource: ResolvedLink;
  readonly title: string;
  readonly rows: readonly PlaylistRow[];
  /** Links entered together, without a cover. */
  readonly isBatch: boolean;
}

/** Title, author and counts of a playlist. */
export const PlaylistHead = ({ resource, title, rows, isBatch }: PlaylistHeadProps) => {
  const { t } = usePage().texts;
  const { author, coverUrl, counts } = resource;
  const listed = rows.filter(isListed);
  const [count, placeCount] = [listed.length, rows.length];
  const pendingCount = isBatch ? 0 : listed.filter(({ entry }) => isPending(entry)).length;
  const total = counts?.total ?? 0;
  const details = [
    placeCount > count && t('list.unavailableCount', { count: placeCount - count }),
    pendingCount > 0 && t('list.pendingCount', { count: pendingCount }),
    counts?.isCut && t('list.limit', { count: placeCount }),
  ].filter(Boolean);
  return (
    <div class={isBatch ? 'playlist-head batch' : 'playlist-head'}>
      {!isBatch && <Cover url={coverUrl ?? listed.find(({ entry }) => entry.item.coverUrl)?.entry.item.coverUrl} />}
      <div>
        <h2 dir="auto">{title}</h2>
        <p class="byline">
          {author && <bdi>{author}</bdi>}
          <span>
            {total > placeCount ? t('list.countOf', { shown: count, count: total }) : t('list.count', { count })}
          </span>
        </p>
        {/* A line also without a note, which may come and go: no layout shift. */}
        <p class="muted section-note">{details.join(' ')}</p>
      </div>
    </div>
  );
};
