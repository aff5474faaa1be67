import { useEffect, useState } from 'preact/hooks';
import { signLink } from '../../access/index.ts';
import { hasFilePicker } from '../../download/index.ts';
import { fileNameOf, type PlaylistFormat } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { CopyButton, Icon } from '../controls/index.ts';
import { useOffers } from '../conversions/index.ts';

export interface PlaylistLinksProps {
  /** The list's link. */
  readonly link: string;
  /** The list's title. */
  readonly title: string;
  readonly author: string | null;
  /** Places of the list. */
  readonly count: number;
  readonly format: PlaylistFormat;
}

/** The parameters of the API by what the toolbar selects. */
const QUALITIES: Readonly<Record<PlaylistFormat, Readonly<Record<string, string>>>> = {
  recommended: {},
  highest: { codec: 'any' },
  audio: { quality: 'audio' },
  mp3: { quality: 'mp3' },
};

/** The whole list as one file, as a podcast, and as a playlist for players. */
export const PlaylistLinks = ({ link, title, author, count, format }: PlaylistLinksProps) => {
  const { api, texts, formats, downloads } = usePage();
  const { t } = texts;
  const [access, setAccess] = useState<string>();
  useEffect(() => void signLink(api.base, link).then(setAccess), [api, link]);
  const offers = useOffers();
  const { bitrateKbps = 0 } = formats.get() ?? {};
  const conversion: Record<string, string> = {};
  if (format === 'mp3' && offers?.hasTags) conversion.tags = 'true';
  if (format === 'mp3' && offers?.bitratesKbps.includes(bitrateKbps)) conversion.bitrate = String(bitrateKbps);
  const urlOf = (operation: string, options: Readonly<Record<string, string>>) =>
    `${api.base}/api/${operation}?${new URLSearchParams({ url: link, ...options, ...(access && { access }) })}`;
  const zip = urlOf('Get', { ...QUALITIES[format], ...conversion, format: 'zip' });
  const downloadZip = (event: MouseEvent) => {
    // Without a picker, the browser's storage may be too small for a whole list: the browser downloads by itself.
    if (!hasFilePicker() || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    downloads.start({ url: zip, fileName: fileNameOf({ title, author }, '.zip'), entryCount: count });
  };
  return (
    <p class="playlist-links">
      <a class="button plain small" href={zip} download onClick={downloadZip}>
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
