import type { ComponentChildren } from 'preact';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';

export interface PlaylistLinksProps {
  readonly title: string;
  /** The selected entries for download managers; absent without a selection. */
  readonly metalink: string | undefined;
  /** The whole list, for players. */
  readonly m3u8: string;
  /** The whole list as a podcast. */
  readonly podcast: string;
}

/** What there is beside the ZIP: the selected entries as files of their own, and the whole list for players and as a podcast. */
export const PlaylistLinks = ({ title, metalink, m3u8, podcast }: PlaylistLinksProps) => {
  const { t } = usePage().texts;
  return (
    <>
      {metalink && (
        <Way what={t('list.metalink')}>
          <a class="button plain small" href={metalink} download={`${title}.meta4`}>
            <Icon name="download" />
            {t('list.separate')}
          </a>
        </Way>
      )}
      <Way what={t('list.player.what')}>
        <a class="button plain small" href={m3u8} download={`${title}.m3u8`}>
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
