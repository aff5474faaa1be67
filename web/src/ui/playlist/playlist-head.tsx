import type { ResolvedLink } from '../../api/index.ts';
import { usePage } from '../context.ts';
import { Cover } from '../controls/index.ts';
import type { CountNotes } from './playlist-rows.ts';

export interface PlaylistHeadProps {
  readonly title: string;
  readonly resource: ResolvedLink;
  readonly count: number;
  readonly notes: CountNotes;
  /** Links entered together, without a cover. */
  readonly isBatch: boolean;
}

/** Title, author and counts of a playlist. */
export const PlaylistHead = ({ title, resource, count, notes, isBatch }: PlaylistHeadProps) => {
  const { t } = usePage().texts;
  const { total, unavailableCount, limit, pendingCount } = notes;
  const details = [
    unavailableCount > 0 && t('list.unavailableCount', { count: unavailableCount }),
    !isBatch && pendingCount > 0 && t('list.pendingCount', { count: pendingCount }),
    limit !== undefined && t('list.limit', { count: limit }),
  ].filter(Boolean);
  return (
    <div class={isBatch ? 'playlist-head batch' : 'playlist-head'}>
      {!isBatch && <Cover url={resource.coverUrl ?? resource.mediaItems[0]?.coverUrl} />}
      <div>
        <h2 dir="auto">{title}</h2>
        <p class="byline">
          {resource.author && <bdi>{resource.author}</bdi>}
          <span>
            {total === undefined ? t('list.count', { count }) : t('list.countOf', { shown: count, count: total })}
          </span>
        </p>
        {details.length > 0 && <p class="muted section-note">{details.join(' ')}</p>}
      </div>
    </div>
  );
};
