import { useRef } from 'preact/hooks';
import { PLAYLIST_FORMATS, type PlaylistFormat } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon, Select, usePublishedHeight } from '../controls/index.ts';

export interface PlaylistToolbarProps {
  readonly count: number;
  readonly pickedCount: number;
  /** Whether every entry that the filter shows is selected. */
  readonly allPicked: boolean;
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly format: PlaylistFormat;
  readonly onPickAll: (isAll: boolean) => void;
  readonly onFormat: (format: PlaylistFormat) => void;
  readonly onDownload: () => void;
}

/** Shorter lists are seen at a glance. */
const MIN_FILTERED_ENTRIES = 10;

/** Selection, filter, format and download of a playlist. */
export const PlaylistToolbar = (props: PlaylistToolbarProps) => {
  const { count, pickedCount, allPicked, filter, format, onPickAll, onFilter, onFormat, onDownload } = props;
  const { t } = usePage().texts;
  const bar = useRef<HTMLDivElement>(null);
  usePublishedHeight(bar, '--toolbar');
  return (
    <div class="toolbar" ref={bar}>
      <label>
        <input
          type="checkbox"
          class="checkbox"
          checked={pickedCount > 0 && allPicked}
          indeterminate={pickedCount > 0 && !allPicked}
          onChange={({ currentTarget }) => onPickAll(currentTarget.checked)}
        />
        {t('list.all')}
      </label>
      {count >= MIN_FILTERED_ENTRIES && (
        <input
          type="search"
          class="filter"
          value={filter}
          placeholder={t('list.filter')}
          aria-label={t('list.filter')}
          autoComplete="off"
          enterKeyHint="done"
          onInput={({ currentTarget }) => onFilter(currentTarget.value)}
        />
      )}
      <Select
        label={t('list.prefer')}
        value={format}
        options={PLAYLIST_FORMATS}
        nameOf={(one) => t(`list.prefer.${one}`)}
        onChange={onFormat}
      />
      {/* aria-disabled: a disabled button would lose the focus. */}
      <button
        type="button"
        class="button primary"
        aria-disabled={pickedCount === 0}
        onClick={() => pickedCount > 0 && onDownload()}
      >
        <Icon name="download" />
        {pickedCount === count && count > 1
          ? t('list.downloadAll', { count })
          : pickedCount === 0
            ? t('action.download')
            : t('list.download', { count: pickedCount })}
      </button>
    </div>
  );
};
