import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';

/** Placeholder of a result while resolving. */
export const Skeleton = ({ onCancel }: { readonly onCancel: () => void }) => {
  const { t } = usePage().texts;
  return (
    <div class="item">
      <div class="loading-stage">
        <div class="skeleton media-stage" />
        <div class="loading">
          <p>{t('field.loading')}</p>
          <button type="button" class="button small" onClick={onCancel}>
            <Icon name="close" />
            {t('action.cancel')}
          </button>
        </div>
        <div class="item-head">
          <span class="skeleton line title" />
          <span class="skeleton line short" />
        </div>
      </div>
      <div class="panel download-panel" aria-hidden="true">
        {Array.from({ length: 4 }, (_, row) => (
          <span key={row} class="skeleton row" />
        ))}
      </div>
    </div>
  );
};
