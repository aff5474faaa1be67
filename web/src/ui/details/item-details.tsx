import '../../styles/details.css';
import { usePage } from '../context.ts';
import { Icon } from '../controls/index.ts';
import { failureText } from '../failure-text.ts';
import type { MediaDetails } from './media-details.ts';
import { subtitleName, useDetails } from './use-details.ts';

export interface ItemDetailsProps {
  readonly link: string;
  /** Key of a rendition, for the cover; absent without one. */
  readonly coverKey: string | null;
  /** Plays from a position; absent where nothing can be played or sought. */
  readonly onSeek: ((seconds: number) => void) | undefined;
  /** Downloads a chapter by its number, from 1; absent where the service sends no parts of the item. */
  readonly onDownload: ((chapter: number) => void) | undefined;
  readonly onDownloadAll: (() => void) | undefined;
}

/** Description, date, chapters, subtitles and cover of an item. */
export const ItemDetails = ({ link, ...props }: ItemDetailsProps) => {
  const { texts } = usePage();
  const { t } = texts;
  const { details, failure, retry } = useDetails(link, true);
  if (failure)
    return (
      <p role="alert">
        {failureText(texts, failure).title}{' '}
        <button type="button" class="button plain small" onClick={retry}>
          <Icon name="retry" />
          {t('action.retry')}
        </button>
      </p>
    );
  if (!details) return <p role="status">{t('list.looking')}</p>;
  return <Facts details={details} {...props} />;
};

interface FactsProps extends Omit<ItemDetailsProps, 'link'> {
  readonly details: MediaDetails;
}

const Facts = ({ details, coverKey, onSeek, onDownload, onDownloadAll }: FactsProps) => {
  const { texts, format, api } = usePage();
  const { t } = texts;
  const { durationSeconds, uploadDate, description, chapters, subtitles } = details;
  const facts = [
    durationSeconds && t('details.duration', { duration: format.clock(durationSeconds) }),
    uploadDate && t('details.published', { date: format.date(uploadDate) }),
  ].filter(Boolean);
  const coverUrl = coverKey && details.coverUrl && api.coverUrl(coverKey);
  const isEmpty = facts.length + chapters.length + subtitles.length === 0 && !description && !coverUrl;
  if (isEmpty) return <p class="muted">{t('details.none')}</p>;
  return (
    <>
      {facts.length > 0 && <p class="muted figures">{facts.join(' · ')}</p>}
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
            {chapters.map(({ title, startSeconds }, index) => (
              <li key={startSeconds}>
                <ChapterButton title={title} startSeconds={startSeconds} onSeek={onSeek} />
                {onDownload && (
                  <button
                    type="button"
                    class="button plain small square"
                    aria-label={t('action.downloadNamed', { label: title ?? format.clock(startSeconds) })}
                    title={t('action.download')}
                    onClick={() => onDownload(index + 1)}
                  >
                    <Icon name="download" />
                  </button>
                )}
              </li>
            ))}
          </ol>
          {onDownloadAll && (
            <button type="button" class="button plain small" onClick={onDownloadAll}>
              <Icon name="download" />
              {t('details.allChapters')}
            </button>
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
    </>
  );
};

const SUBTITLE_FORMATS = ['srt', 'vtt', 'txt'] as const;

interface ChapterButtonProps {
  readonly title: string | null;
  readonly startSeconds: number;
  readonly onSeek: ((seconds: number) => void) | undefined;
}

const ChapterButton = ({ title, startSeconds, onSeek }: ChapterButtonProps) => {
  const { format } = usePage();
  const content = (
    <>
      <span class="figures">{format.clock(startSeconds)}</span> <bdi>{title}</bdi>
    </>
  );
  if (!onSeek) return content;
  return (
    <button type="button" class="button plain small" onClick={() => onSeek(startSeconds)}>
      {content}
    </button>
  );
};
