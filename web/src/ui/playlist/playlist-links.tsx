import type { ComponentChildren } from 'preact';
import { fileNameOf } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';
import type { PlaylistUrls } from './playlist-urls.ts';

export interface PlaylistLinksProps extends Pick<PlaylistUrls, 'metalink' | 'm3u8' | 'podcast'> {
  readonly title: string;
  /** Whether there are entries to download. */
  readonly isPicked: boolean;
}

/** What there is beside the ZIP: the selected entries as files of their own, and the whole list for players and as a podcast. */
export const PlaylistLinks = ({ metalink, m3u8, podcast, title, isPicked }: PlaylistLinksProps) => {
  const { t } = usePage().texts;
  return (
    <>
      {isPicked && (
        <Way what={t('list.metalink')}>
          <a class="button plain small" href={metalink} download={fileNameOf({ title, author: null }, '.meta4')}>
            <Icon name="download" />
            {t('list.separate')}
          </a>
        </Way>
      )}
      <Way what={t('list.player.what')}>
        <a class="button plain small" href={m3u8} download={fileNameOf({ title, author: null }, '.m3u8')}>
          <Icon name="play" />
          {t('list.player')}
        </a>
      </Way>
      <Way what={t('list.feed.what')}>
        <CopyButton text={podcast} label={t('list.feed')} />
      </Way>
    </>
  );
};

const Way = ({ what, children }: { readonly what: string; readonly children: ComponentChildren }) => (
  <p class="row way">
    {children}
    <small class="muted">{what}</small>
  </p>
);
