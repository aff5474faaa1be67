import type { HistoryItem } from '../../lib/index.ts';
import type { Choice } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';
import { DownloadButton } from './download-button.tsx';
import { DownloadNote } from './download-note.tsx';
import { ShareButton } from './share-button.tsx';

export interface ActionsProps {
  readonly choice: Choice;
  readonly item: HistoryItem;
  readonly onPlay: () => void;
  readonly onWithoutSubtitles: () => void;
}

/** Actions of the selected rendition. */
export const Actions = ({ choice, item, onPlay, onWithoutSubtitles }: ActionsProps) => {
  const { texts, api, downloads } = usePage();
  const { t } = texts;
  const file = downloads.fileOf(choice);
  const state = useObservable(downloads.states).get(file.url);
  const dropSubtitles = () => {
    onWithoutSubtitles();
    void downloads.start(downloads.fileOf({ ...choice, subtitles: undefined }), item);
  };
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
      <DownloadNote url={file.url} link={item.link} />
      {choice.subtitles && state?.phase === 'failed' && (
        <button type="button" class="button plain small" onClick={dropSubtitles}>
          <Icon name="download" />
          {t('action.withoutSubtitles')}
        </button>
      )}
      <div class="row actions-more">
        <CopyButton text={api.streamUrl(choice.rendition, choice)} label={t('action.copyLink')} />
        {item.link && <ShareButton link={item.link} title={item.title} choice={choice} />}
      </div>
    </>
  );
};
