import { fileNameOf } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';
import type { PlaylistUrls } from './playlist-urls.ts';

/** The whole list as a podcast, and as a playlist for players. */
export const PlaylistLinks = ({ m3u8, podcast }: Pick<PlaylistUrls, 'm3u8' | 'podcast'>) => {
  const { t } = usePage().texts;
  return (
    <p class="row playlist-links">
      <a class="button plain small" href={m3u8} download="list.m3u8">
        <Icon name="play" />
        {t('list.player')}
      </a>
      <CopyButton text={podcast} label={t('list.feed')} />
    </p>
  );
};

export interface SeparateFilesProps extends Pick<PlaylistUrls, 'metalink'> {
  readonly title: string;
}

/** The selected entries as files of their own, for download managers. */
export const SeparateFiles = ({ metalink, title }: SeparateFilesProps) => {
  const { t } = usePage().texts;
  return (
    <a
      class="button"
      href={metalink}
      download={fileNameOf({ title, author: null }, '.meta4')}
      title={t('list.metalink')}
    >
      <span class="word">{t('list.separate')}</span>
      <Icon name="download" />
    </a>
  );
};
