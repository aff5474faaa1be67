import { useEffect, useRef } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Icon, Select } from '../controls/index.ts';
import { PREFERENCES, type Preference } from './preference.ts';

export interface PlaylistToolbarProps {
  readonly count: number;
  readonly pickedCount: number;
  readonly preference: Preference;
  readonly onPickAll: (isAll: boolean) => void;
  readonly onPrefer: (preference: Preference) => void;
  readonly onTake: () => void;
}

/** Selection, format and download of a playlist. */
export const PlaylistToolbar = (props: PlaylistToolbarProps) => {
  const { count, pickedCount, preference, onPickAll, onPrefer, onTake } = props;
  const { t } = usePage().texts;
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => (bar.current ? publishHeight(bar.current) : undefined), []);
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
        onClick={() => pickedCount > 0 && onTake()}
      >
        <Icon name="download" />
        {pickedCount === 0 ? t('action.download') : t('list.download', { count: pickedCount })}
      </button>
    </div>
  );
};

/** Sets `--toolbar` to the toolbar's height, which depends on language and width. @returns a function that stops it */
function publishHeight(bar: HTMLElement): () => void {
  const { style } = document.documentElement;
  const observer = new ResizeObserver(() => style.setProperty('--toolbar', `${bar.offsetHeight}px`));
  observer.observe(bar);
  return () => {
    observer.disconnect();
    style.removeProperty('--toolbar');
  };
}
