import { useEffect, useState } from 'preact/hooks';
import { signLink } from '../../access/index.ts';
import type { PlaylistFormat } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';
import { useOffers } from '../conversions/index.ts';

export interface PlaylistLinksProps {
  /** The list's link. */
  readonly link: string;
  readonly format: PlaylistFormat;
}

export interface PlaylistUrls {
  /** All entries as one file. */
  readonly zip: string;
  /** For players. */
  readonly m3u8: string;
  /** A podcast. */
  readonly feed: string;
}

/** The parameters of the API by what the toolbar selects. */
const QUALITIES: Readonly<Record<PlaylistFormat, Readonly<Record<string, string>>>> = {
  recommended: {},
  highest: { codec: 'any' },
  audio: { quality: 'audio' },
  mp3: { quality: 'mp3' },
};

/** Addresses of the whole list in a format. */
export function usePlaylistUrls({ link, format }: PlaylistLinksProps): PlaylistUrls {
  const { api, formats } = usePage();
  const [access, setAccess] = useState<string>();
  useEffect(() => void signLink(api.base, link).then(setAccess), [api, link]);
  const offers = useOffers();
  const { bitrateKbps = 0 } = formats.get() ?? {};
  const conversion: Record<string, string> = {};
  if (format === 'mp3' && offers?.hasTags) conversion.tags = 'true';
  if (format === 'mp3' && offers?.bitratesKbps.includes(bitrateKbps)) conversion.bitrate = String(bitrateKbps);
  const urlOf = (operation: string, options: Readonly<Record<string, string>>) =>
    `${api.base}/api/${operation}?${new URLSearchParams({ url: link, ...options, ...(access && { access }) })}`;
  return {
    zip: urlOf('Get', { ...QUALITIES[format], ...conversion, format: 'zip' }),
    m3u8: urlOf('Feed', { ...QUALITIES[format], format: 'm3u8' }),
    feed: urlOf('Feed', {}),
  };
}

/** The list as a podcast, and as a playlist for players. */
export const PlaylistLinks = (props: PlaylistLinksProps) => {
  const { t } = usePage().texts;
  const { m3u8, feed } = usePlaylistUrls(props);
  return (
    <p class="playlist-links">
      <a class="button plain small" href={m3u8} download="list.m3u8">
        <Icon name="play" />
        {t('list.player')}
      </a>
      <CopyButton text={feed} label={t('list.feed')} />
    </p>
  );
};
