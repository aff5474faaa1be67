import { signLink } from '../access/index.ts';
import { type FormatPreference, qualityOf } from '../renditions/index.ts';
import { usePage } from './context.ts';
import { useLoaded } from './hooks.ts';

type Parameters = Readonly<Record<string, string>>;

/** Returns addresses of operations that resolve a link; of a private instance for clients without a key. */
export function useSignedUrls(link: string): (operation: string, parameters: Parameters) => string {
  const { api } = usePage();
  const access = useLoaded(() => signLink(link), [link]);
  return (operation, parameters) =>
    `${api.base}/api/${operation}?${new URLSearchParams({ url: link, ...parameters, ...(access && { access }) })}`;
}

/** Without a preference, as it is preselected. */
const DEFAULT_QUALITY = '1080p';

/** A preference as these operations have it, which choose the format of audio themselves unless it is MP3. */
export const askable = ({ container, ...rest }: FormatPreference): FormatPreference =>
  container === 'MP3' ? { container, ...rest } : rest;

/** What these operations are asked for a preference. Files have tags, as single ones have. */
export function selectionOf(preference: FormatPreference): Parameters {
  const quality = qualityOf(preference) ?? DEFAULT_QUALITY;
  if (quality === 'best') return { codec: 'any' };
  const { bitrateKbps } = preference;
  return { quality, ...(quality === 'mp3' && { tags: 'true', ...(bitrateKbps && { bitrate: String(bitrateKbps) }) }) };
}
