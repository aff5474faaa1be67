import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';

/** Placeholder of a result while resolving. What kind of result it will be is not known. */
export const Skeleton = ({ onCancel }: { readonly onCancel: () => void }) => {
  const { t } = usePage().texts;
  return (
    <div class="loading-result">
      <div class="loading">
        <p>{t('field.loading')}</p>
        <button type="button" class="button small" onClick={onCancel}>
          <Icon name="close" />
          {t('action.cancel')}
        </button>
      </div>
      <div aria-hidden="true">
        <span class="skeleton line title" />
        <span class="skeleton line short" />
        {Array.from({ length: 6 }, (_, row) => (
          <span key={row} class="skeleton row" />
        ))}
      </div>
    </div>
  );
};
