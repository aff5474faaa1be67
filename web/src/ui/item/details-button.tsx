import { useId, useState } from 'preact/hooks';
import type { HistoryItem } from '../../lib/index.ts';
import { type Choice, fileNameOf, preferenceOf } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Icon, useLazy } from '../controls/index.ts';
import { apiQualityOf, useSignedUrls } from '../conversions/index.ts';
import type { ItemDetailsProps } from '../details/index.ts';
import type { DownloadFile } from '../downloads.ts';
import { DownloadNote } from './download-note.tsx';

export interface DetailsButtonProps extends Omit<ItemDetailsProps, 'onDownload' | 'onDownloadAll'> {
  readonly item: HistoryItem;
  /** The format of chapters as files; absent: there are none. */
  readonly choice: Choice | undefined;
}

/** Shows description, chapters, subtitles and cover on request: they cost a request of their own. */
export const DetailsButton = ({ item, choice, ...props }: DetailsButtonProps) => {
  const { texts, downloads } = usePage();
  const { t } = texts;
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const { loaded: ItemDetails, error, retry } = useLazy(loadItemDetails, isOpen);
  const urlOf = useSignedUrls(props.link);
  /** The last download: of a chapter, or of all. */
  const [url, setUrl] = useState<string>();
  const download = (file: DownloadFile) => {
    setUrl(file.url);
    void downloads.start(file, item);
  };
  const all = (one: Choice): DownloadFile => ({
    url: urlOf('Get', {
      quality: apiQualityOf(preferenceOf(one)),
      format: 'zip',
      split: 'chapters',
      ...(one.bitrateKbps && { bitrate: String(one.bitrateKbps) }),
      ...(one.audio && { audio: one.audio }),
      ...(one.hasTags === false && { tags: 'false' }),
    }),
    fileName: fileNameOf({ title: item.title, author: item.author }, '.zip'),
  });
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
        {isOpen && ItemDetails && (
          <ItemDetails
            {...props}
            onDownload={choice && ((chapter) => download(downloads.fileOf({ ...choice, chapter })))}
            onDownloadAll={choice && (() => download(all(choice)))}
          />
        )}
        {isOpen && <DownloadNote url={url} link={props.link} />}
      </div>
    </div>
  );
};

const loadItemDetails = async () => (await import('../details/index.ts')).ItemDetails;
