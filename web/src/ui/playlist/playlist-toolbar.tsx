import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
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
  /** Entries of the selection may be missing in the file. */
  readonly mayMiss: boolean;
  /** Other ways than the download, shown on request. */
  readonly children?: ComponentChildren;
}

/** What is beside the selection and the download in one row, in smaller windows behind "More". */
const NARROW = '(max-width: 40rem)';

function useMatches(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = () => setMatches(list.matches);
    list.addEventListener('change', update);
    return () => list.removeEventListener('change', update);
  }, [query]);
  return matches;
}

/** Selection, format and download of a playlist. */
export const PlaylistToolbar = (props: PlaylistToolbarProps) => {
  const { count, pickedCount, mayMiss, sizeBytes, allPicked, format, isOpening, children } = props;
  const { onPickAll, onFormat, onDownload } = props;
  const { texts, format: formatOf } = usePage();
  const { t } = texts;
  const bar = useRef<HTMLDivElement>(null);
  usePublishedHeight(bar, '--toolbar');
  const size = sizeBytes && !isOpening ? t('choices.about', { size: formatOf.bytes(sizeBytes) }) : undefined;
  const isReady = pickedCount > 0 && !isOpening;
  const isNarrow = useMatches(NARROW);
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const formats = (
    <Select
      label={t('list.prefer')}
      value={format}
      options={PLAYLIST_FORMATS}
      nameOf={(one) => t(`list.prefer.${one}`)}
      onChange={onFormat}
    />
  );
  return (
    <>
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
        {!isNarrow && formats}
        <div class="toolbar-end">
          {/* aria-disabled: a disabled button would lose the focus. */}
          <button type="button" class="button primary" aria-disabled={!isReady} onClick={() => isReady && onDownload()}>
            <Icon name="download" />
            <span>
              {isOpening ? t('downloads.connecting') : downloadText()}
              {size && (
                <span class="size">
                  {' · '}
                  <bdi>{size}</bdi>
                </span>
              )}
            </span>
          </button>
          {(children || isNarrow) && (
            <button
              type="button"
              class="button square"
              aria-label={t('list.more')}
              title={t('list.more')}
              aria-expanded={isOpen}
              aria-controls={id}
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name="more" />
            </button>
          )}
        </div>
      </div>
      <div id={id} class="toolbar-more" hidden={!isOpen}>
        {isNarrow && formats}
        {children}
      </div>
    </>
  );

  function downloadText(): string {
    if (pickedCount === 0) return t('action.download');
    if (mayMiss) return t('list.upTo', { count: pickedCount });
    if (isNarrow) return t('list.download', { count: pickedCount });
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
