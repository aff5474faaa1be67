import type { HistoryItem } from '../../lib/index.ts';
import type { Choice } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';
import { DownloadButton } from './download-button.tsx';
import { DownloadNote } from './download-note.tsx';
import { ShareButton } from './share-button.tsx';

export interface ActionsProps {
  readonly choice: Choice;
  readonly item: HistoryItem;
  readonly onPlay: () => void;
}

/** Actions of the selected rendition. */
export const Actions = ({ choice, item, onPlay }: ActionsProps) => {
  const { texts, api, downloads } = usePage();
  const { t } = texts;
  return (
    <>
      <div class="actions">
        <DownloadButton choice={choice} item={item} />
        <button
          type="button"
          class="button square"
          aria-label={t('action.play')}
          title={t('action.play')}
          onClick={onPlay}
        >
          <Icon name="play" />
        </button>
      </div>
      <DownloadNote url={downloads.fileOf(choice).url} />
      <div class="row actions-more">
        <CopyButton text={api.streamUrl(choice.rendition, choice)} label={t('action.copyLink')} />
        {item.link && <ShareButton link={item.link} title={item.title} choice={choice} />}
      </div>
    </>
  );
};
