import '../../styles/details.css';
import { useState } from 'preact/hooks';
import type { HistoryItem } from '../../history.ts';
import { type Choice, preferenceOf } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { Button, Icon } from '../controls.tsx';
import { type LoadedDetails, subtitleName, useDetails } from '../details.ts';
import { DownloadNote } from '../download-note.tsx';
import { failureText } from '../failure-text.ts';
import { selectionOf, useSignedUrls } from '../signed-urls.ts';

interface ItemDetailsProps {
  readonly link: string;
  readonly item: HistoryItem;
  /** Key of a rendition, for the cover; absent without one. */
  readonly coverKey: string | null;
  /** Plays from a position; absent where nothing can be played or sought. */
  readonly onSeek: ((seconds: number) => void) | undefined;
  /** The format of chapters as files; absent: there are none. */
  readonly choice: Choice | undefined;
}

/** Description, date, chapters, subtitles and cover of an item. */
export const ItemDetails = (props: ItemDetailsProps) => {
  const { t, texts } = usePage();
  const { details, failure, retry } = useDetails(props.link, true);
  return (
    <div class="details-body">
      {failure ? (
        <p role="alert">
          {failureText(texts, failure).title}{' '}
          <Button icon="retry" onClick={retry}>
            {t('action.retry')}
          </Button>
        </p>
      ) : details ? (
        <Facts details={details} {...props} />
      ) : (
        <p role="status">{t('list.looking')}</p>
      )}
    </div>
  );
};

const Facts = (props: ItemDetailsProps & { readonly details: LoadedDetails }) => {
  const { link, item, details, coverKey, onSeek, choice } = props;
  const { t, texts, format, api, downloads } = usePage();
  const { uploadDate, description, chapters, subtitles } = details;
  const coverUrl = coverKey && details.coverUrl && api.coverUrl(coverKey);
  const urlOf = useSignedUrls(link);
  /** The last download: of a chapter, or of all. */
  const [url, setUrl] = useState<string>();
  const download = (next: string) => {
    setUrl(next);
    void downloads.start(next, item);
  };
  const allOf = (one: Choice) =>
    urlOf('Get', {
      ...selectionOf(preferenceOf(one)),
      format: 'zip',
      split: 'chapters',
      ...(one.audio && { audio: one.audio }),
    });
  if (!uploadDate && !description && chapters.length + subtitles.length === 0 && !coverUrl)
    return <p class="muted">{t('details.none')}</p>;
  return (
    <>
      {uploadDate && <p class="muted figures">{t('details.published', { date: format.date(uploadDate) })}</p>}
      {description && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        <p class="description" dir="auto" tabIndex={0}>
          {description}
        </p>
      )}
      {chapters.length > 0 && (
        <section>
          <h3>{t('details.chapters')}</h3>
          <ol class="chapters">
            {chapters.map(({ title, startSeconds }, index) => {
              const time = format.clock(startSeconds);
              const name = (
                <>
                  <span class="figures">{time}</span> <bdi>{title}</bdi>
                </>
              );
              return (
                <li key={startSeconds}>
                  {onSeek ? <Button onClick={() => onSeek(startSeconds)}>{name}</Button> : name}
                  {choice && (
                    <Button
                      icon="download"
                      name={t('action.downloadNamed', { label: title ?? time })}
                      title={t('action.download')}
                      onClick={() => download(downloads.urlOf({ ...choice, chapter: index + 1 }))}
                    />
                  )}
                </li>
              );
            })}
          </ol>
          {choice && (
            <Button icon="download" onClick={() => download(allOf(choice))}>
              {t('details.allChapters')}
            </Button>
          )}
        </section>
      )}
      {subtitles.length > 0 && (
        <section>
          <h3>{t('details.subtitles')}</h3>
          <ul class="subtitles">
            {subtitles.map((subtitle) => {
              const name = subtitleName(subtitle, subtitles, texts);
              return (
                <li key={subtitle.key}>
                  <span>{name}</span>
                  {SUBTITLE_FORMATS.map((kind) => (
                    <a key={kind} href={api.subtitleUrl(subtitle.key, kind)} download>
                      <span class="visually-hidden">{name} </span>.{kind}
                    </a>
                  ))}
                </li>
              );
            })}
          </ul>
        </section>
      )}
      {coverUrl && (
        <a class="button plain small" href={coverUrl} download>
          <Icon name="download" />
          {t('details.cover')}
        </a>
      )}
      <DownloadNote url={url} link={link} />
    </>
  );
};

const SUBTITLE_FORMATS = ['srt', 'vtt', 'txt'] as const;
