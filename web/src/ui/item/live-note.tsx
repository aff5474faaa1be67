import type { HistoryItem } from '../../lib/index.ts';
import type { Choice } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Button, Icon } from '../controls/index.ts';
import { DownloadNote } from './download-note.tsx';

export interface LiveNoteProps {
  readonly choice: Choice;
  readonly item: HistoryItem;
}

const LAST_SECONDS = 300;

/** What the download of a live stream is, and its last minutes as a file. */
export const LiveNote = ({ choice, item }: LiveNoteProps) => {
  const { texts, format, downloads } = usePage();
  const { t } = texts;
  const url = downloads.urlOf({ ...choice, lastSeconds: LAST_SECONDS });
  return (
    <>
      <p class="note">
        <Icon name="clock" />
        {t('live.note')}
      </p>
      <Button icon="download" onClick={() => void downloads.start(url, item)}>
        {t('live.last', { duration: format.duration(LAST_SECONDS) })}
      </Button>
      <DownloadNote url={url} link={item.link} />
    </>
  );
};
