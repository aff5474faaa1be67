import { usePage } from './context.ts';
import { Icon } from './icons.tsx';
import { PREFERENCES, type Preference } from './preference.ts';

export interface PlaylistToolbarProps {
  readonly count: number;
  readonly pickedCount: number;
  readonly preference: Preference;
  readonly onPickAll: (isAll: boolean) => void;
  readonly onPrefer: (preference: Preference) => void;
  readonly onTake: () => void;
}

/** Pick all or none, say which version of each, take them. */
export const PlaylistToolbar = (props: PlaylistToolbarProps) => {
  const { count, pickedCount, preference, onPickAll, onPrefer, onTake } = props;
  const { t } = usePage().texts;
  return (
    <div class="toolbar">
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
      <label>
        {t('list.prefer')}
        <select
          class="select"
          value={preference}
          onChange={({ currentTarget }) => onPrefer(PREFERENCES.find((one) => one === currentTarget.value) ?? 'best')}
        >
          {PREFERENCES.map((one) => (
            <option key={one} value={one}>
              {t(`list.prefer.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="button primary" disabled={pickedCount === 0} onClick={onTake}>
        <Icon name="download" />
        {t('list.download', { count: pickedCount })}
      </button>
    </div>
  );
};
