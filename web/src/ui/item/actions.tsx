import { useId, useState } from 'preact/hooks';
import type { HistoryItem } from '../../lib/index.ts';
import type { Choice } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';
import { CommandLines } from './command-lines.tsx';
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
  const [isOpen, setOpen] = useState(false);
  const id = useId();
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
        <button
          type="button"
          class="button plain small"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="code" />
          {t('action.commands')}
        </button>
        {item.link && <ShareButton link={item.link} title={item.title} choice={choice} />}
      </div>
      <div id={id} class="commands" hidden={!isOpen}>
        {isOpen && <CommandLines choice={choice} />}
      </div>
    </>
  );
};
