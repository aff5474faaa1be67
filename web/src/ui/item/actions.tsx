import type { HistoryItem } from '../../lib/index.ts';
import type { Choice } from '../../renditions/index.ts';
import { useObservable, usePage } from '../context.ts';
import { Button, ButtonSize, CopyButton } from '../controls/index.ts';
import { sizeName } from '../details/index.ts';
import { DownloadNote } from './download-note.tsx';
import { ShareButton } from './share-button.tsx';

export interface ActionsProps {
  readonly choice: Choice;
  readonly item: HistoryItem;
  readonly onPlay: () => void;
  readonly onWithoutSubtitles: () => void;
}

const LOOKS = {
  opening: { icon: 'download', text: 'downloads.connecting' },
  failed: { icon: 'retry', text: 'action.failed' },
} as const;

/** Actions of the selected rendition. */
export const Actions = ({ choice, item, onPlay, onWithoutSubtitles }: ActionsProps) => {
  const { texts, format, api, downloads } = usePage();
  const { t } = texts;
  const { label, container } = choice;
  const url = downloads.urlOf(choice);
  const state = useObservable(downloads.states).get(url);
  const look = state && state.phase !== 'started' ? LOOKS[state.phase] : undefined;
  const size = look ? undefined : sizeName(choice, texts, format);
  const dropSubtitles = () => {
    onWithoutSubtitles();
    void downloads.start(downloads.urlOf({ ...choice, subtitles: undefined }), item);
  };
  return (
    <>
      <div class="actions">
        {/* One button for all of it, so that it keeps the focus. */}
        <Button
          look={`primary ${state?.phase ?? ''}`}
          icon={look?.icon ?? 'download'}
          aria-disabled={state?.phase === 'opening'}
          onClick={() => void downloads.start(url, item)}
        >
          <span>
            {look ? t(look.text) : t(state ? 'action.downloadAgain' : 'action.downloadNamed', { label })}
            <ButtonSize size={size} />
          </span>
          {look ? (
            <span class="visually-hidden">{label}</span>
          ) : (
            container !== label && <span class="visually-hidden">{container}</span>
          )}
        </Button>
        <Button look="" icon="play" name={t('action.play')} onClick={onPlay} />
      </div>
      <DownloadNote url={url} link={item.link} />
      {choice.subtitles && state?.phase === 'failed' && (
        <Button icon="download" onClick={dropSubtitles}>
          {t('action.withoutSubtitles')}
        </Button>
      )}
      <div class="row actions-more">
        <CopyButton text={api.streamUrl(choice.rendition, choice)} label={t('action.copyLink')} />
        {item.link && <ShareButton link={item.link} title={item.title} choice={choice} />}
      </div>
    </>
  );
};
