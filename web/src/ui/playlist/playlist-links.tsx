import { useEffect, useState } from 'preact/hooks';
import { signLink } from '../../access/index.ts';
import type { PlaylistFormat } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';

export interface PlaylistLinksProps {
  /** Of the list. */
  readonly link: string;
  readonly format: PlaylistFormat;
}

/** The `quality` and `codec` of the API by what the toolbar selects. */
const QUALITIES: Readonly<Record<PlaylistFormat, Readonly<Record<string, string>>>> = {
  recommended: {},
  highest: { codec: 'any' },
  audio: { quality: 'audio' },
  mp3: { quality: 'mp3' },
};

/** The whole list as one file, as a podcast, and as a playlist for players. */
export const PlaylistLinks = ({ link, format }: PlaylistLinksProps) => {
  const { api, texts } = usePage();
  const { t } = texts;
  const [access, setAccess] = useState<string>();
  useEffect(() => void signLink(api.base, link).then(setAccess), [api, link]);
  const urlOf = (operation: string, options: Readonly<Record<string, string>>) =>
    `${api.base}/api/${operation}?${new URLSearchParams({ url: link, ...options, ...(access && { access }) })}`;
  return (
    <p class="playlist-links">
      <a class="button plain small" href={urlOf('Get', { ...QUALITIES[format], format: 'zip' })} download>
        <Icon name="download" />
        {t('list.zip')}
      </a>
      <a class="button plain small" href={urlOf('Feed', { ...QUALITIES[format], format: 'm3u8' })} download="list.m3u8">
        <Icon name="play" />
        {t('list.player')}
      </a>
      <CopyButton text={urlOf('Feed', {})} label={t('list.feed')} />
    </p>
  );
};
