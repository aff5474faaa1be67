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

export interface SeparateFilesProps extends Pick<PlaylistUrls, 'metalink' | 'addresses' | 'library'> {
  /** Of the list. */
  readonly title: string;
}

/** The selected entries as files of their own, for download managers and media centres. */
export const SeparateFiles = ({ metalink, addresses, library, title }: SeparateFilesProps) => {
  const { t } = usePage().texts;
  const close = (menu: HTMLDetailsElement) => {
    menu.open = false;
  };
  const nameOf = (extension: string) => fileNameOf({ title, author: null }, extension);
  return (
    <details
      class="menu"
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) close(currentTarget);
      }}
      onKeyDown={({ key, currentTarget }) => {
        if (key !== 'Escape' || !currentTarget.open) return;
        close(currentTarget);
        currentTarget.querySelector('summary')?.focus();
      }}
      onClick={({ target, currentTarget }) => target instanceof HTMLAnchorElement && close(currentTarget)}
    >
      <summary class="button" title={t('list.separate')}>
        <span class="word">{t('list.separate')}</span>
        <Icon name="all" />
      </summary>
      <div class="menu-panel panel">
        <a class="button plain" href={metalink} download={nameOf('.meta4')}>
          {t('list.metalink')}
        </a>
        <a class="button plain" href={addresses} download={nameOf('.txt')}>
          {t('list.addresses')}
        </a>
        <a class="button plain" href={library} download={nameOf('.zip')}>
          {t('list.library')}
        </a>
      </div>
    </details>
  );
};
