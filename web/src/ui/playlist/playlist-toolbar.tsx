import { useRef } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Icon, Select, usePublishedHeight } from '../controls/index.ts';
import { PREFERENCES, type Preference } from './preference.ts';

export interface PlaylistToolbarProps {
  readonly count: number;
  readonly pickedCount: number;
  readonly preference: Preference;
  readonly onPickAll: (isAll: boolean) => void;
  readonly onPrefer: (preference: Preference) => void;
  readonly onDownload: () => void;
}

/** Selection, format and download of a playlist. */
export const PlaylistToolbar = (props: PlaylistToolbarProps) => {
  const { count, pickedCount, preference, onPickAll, onPrefer, onDownload } = props;
  const { t } = usePage().texts;
  const bar = useRef<HTMLDivElement>(null);
  usePublishedHeight(bar, '--toolbar');
  return (
    <div class="toolbar" ref={bar}>
      <label>
        <input
          type="checkbox"
          class="checkbox"
          checked={pickedCount === count}
          indeterminate={pickedCount > 0 && pickedCount < count}
          onChange={({ currentTarget }) => onPickAll(currentTarget.checked)}
        />
        {t('list.all')}
      </label>
      <Select
        label={t('list.prefer')}
        value={preference}
        options={PREFERENCES}
        nameOf={(one) => t(`list.prefer.${one}`)}
        onChange={onPrefer}
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
