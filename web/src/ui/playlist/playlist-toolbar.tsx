import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { PLAYLIST_FORMATS, type PlaylistFormat } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon, Select, usePublishedHeight } from '../controls/index.ts';

export interface PlaylistToolbarProps {
  readonly count: number;
  readonly pickedCount: number;
  /** What is selected has this size in all; undefined: a size is unknown. */
  readonly sizeBytes: number | undefined;
  /** Whether every entry that the filter shows is selected. */
  readonly allPicked: boolean;
  readonly format: PlaylistFormat;
  /** The download is being opened. */
  readonly isOpening: boolean;
  readonly onPickAll: (isAll: boolean) => void;
  readonly onFormat: (format: PlaylistFormat) => void;
  readonly onDownload: () => void;
  /** Behind the download button. */
  readonly children?: ComponentChildren;
}

/** Selection, format and download of a playlist. */
export const PlaylistToolbar = (props: PlaylistToolbarProps) => {
  const { count, pickedCount, sizeBytes, allPicked, format, isOpening, onPickAll, onFormat, onDownload } = props;
  const { texts, format: formatOf } = usePage();
  const { t } = texts;
  const bar = useRef<HTMLDivElement>(null);
  usePublishedHeight(bar, '--toolbar');
  const size = sizeBytes && !isOpening ? t('choices.about', { size: formatOf.bytes(sizeBytes) }) : undefined;
  const isReady = pickedCount > 0 && !isOpening;
  return (
    <div class="row toolbar" ref={bar}>
      <label class="all">
        <input
          type="checkbox"
          class="checkbox"
          checked={pickedCount > 0 && allPicked}
          indeterminate={pickedCount > 0 && !allPicked}
          onChange={({ currentTarget }) => onPickAll(currentTarget.checked)}
        />
        <span class="word">{t('list.all')}</span>
      </label>
      <Select
        label={t('list.prefer')}
        value={format}
        options={PLAYLIST_FORMATS}
        nameOf={(one) => t(`list.prefer.${one}`)}
        onChange={onFormat}
      />
      <div class="toolbar-end">
        {/* aria-disabled: a disabled button would lose the focus. */}
        <button type="button" class="button primary" aria-disabled={!isReady} onClick={() => isReady && onDownload()}>
          <Icon name="download" />
          <span class="word">
            {isOpening ? t('downloads.connecting') : downloadText()}
            {size && (
              <span class="size">
                {' · '}
                <bdi>{size}</bdi>
              </span>
            )}
          </span>
          <span class="short figures" aria-hidden="true">
            {size ?? (pickedCount > 0 && formatOf.number(pickedCount))}
          </span>
        </button>
        {props.children}
      </div>
    </div>
  );

  function downloadText(): string {
    if (pickedCount === 0) return t('action.download');
    return pickedCount === count && count > 1
      ? t('list.downloadAll', { count })
      : t('list.download', { count: pickedCount });
  }
};

export interface PlaylistFilterProps {
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
}

export const PlaylistFilter = ({ filter, onFilter }: PlaylistFilterProps) => {
  const { t } = usePage().texts;
  return (
    <input
      type="search"
      class="text-field filter"
      value={filter}
      placeholder={t('list.filter')}
      aria-label={t('list.filter')}
      autoComplete="off"
      enterKeyHint="done"
      onInput={({ currentTarget }) => onFilter(currentTarget.value)}
    />
  );
};
