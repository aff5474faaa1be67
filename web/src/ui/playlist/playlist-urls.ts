import { MP3_BITRATES_KBPS, type PlaylistFormat } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { apiQualityOf, useSignedUrls } from '../conversions/index.ts';
import { formatNumbers } from './selection.ts';

export interface PlaylistUrlsOptions {
  /** The list's link. */
  readonly link: string;
  readonly format: PlaylistFormat;
  /** One-based places of the selected entries, ascending. Absent: all. */
  readonly numbers?: readonly number[] | undefined;
}

/** Addresses of a list in a format. */
export interface PlaylistUrls {
  /** The selected entries as one file. */
  readonly zip: string;
  /** The selected entries for download managers. */
  readonly metalink: string;
  /** The whole list, for players. */
  readonly m3u8: string;
  /** The whole list as a podcast. */
  readonly podcast: string;
}

export function usePlaylistUrls({ link, format, numbers }: PlaylistUrlsOptions): PlaylistUrls {
  const { formats } = usePage();
  const urlOf = useSignedUrls(link);
  const preference = formats.get();
  const quality = format === 'recommended' ? apiQualityOf(preference) : format;
  const chosen: Record<string, string> = quality === 'highest' ? { codec: 'any' } : { quality };
  const conversion: Record<string, string> = {};
  const { bitrateKbps = 0 } = preference ?? {};
  if (quality === 'mp3' && preference?.hasTags !== false) conversion.tags = 'true';
  if (quality === 'mp3' && MP3_BITRATES_KBPS.includes(bitrateKbps)) conversion.bitrate = String(bitrateKbps);
  const selected: Record<string, string> = numbers ? { entries: formatNumbers(numbers) } : {};
  const files = { ...chosen, ...conversion, ...selected };
  return {
    zip: urlOf('Get', { ...files, format: 'zip' }),
    metalink: urlOf('Feed', { ...files, format: 'metalink' }),
    m3u8: urlOf('Feed', { ...chosen, format: 'm3u8' }),
    podcast: urlOf('Feed', {}),
  };
}
