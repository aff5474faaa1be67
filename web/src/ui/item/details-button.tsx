import { useId, useState } from 'preact/hooks';
import { usePage } from '../context.ts';
import { Icon, useLazy } from '../controls/index.ts';
import type { ItemDetailsProps } from '../details/index.ts';

/** Shows description, chapters, subtitles and cover on request: they cost a request of their own. */
export const DetailsButton = (props: ItemDetailsProps) => {
  const { t } = usePage().texts;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const { loaded: ItemDetails, error, retry } = useLazy(loadItemDetails, isOpen);
  return (
    <div class="details">
      <button
        type="button"
        class="button plain small"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => {
          setOpen(!isOpen);
          if (error) retry();
        }}
      >
        <Icon name={isOpen ? 'less' : 'all'} />
        {t('details.title')}
      </button>
      <div id={id} class="details-body" hidden={!isOpen}>
        {isOpen && ItemDetails && <ItemDetails {...props} />}
      </div>
    </div>
  );
};

const loadItemDetails = async () => (await import('../details/index.ts')).ItemDetails;
