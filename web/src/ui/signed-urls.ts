import { signLink } from '../access/index.ts';
import { type FormatPreference, qualityOf } from '../renditions/index.ts';
import { usePage } from './context.ts';
import { useLoaded } from './hooks.ts';

type Parameters = Readonly<Record<string, string>>;

/** Returns URLs of operations that resolve a link. On a private instance they are signed, for clients without a key. */
export function useSignedUrls(link: string): (operation: string, parameters: Parameters) => string {
  const { api } = usePage();
  const access = useLoaded(() => signLink(link), [link]);
  return (operation, parameters) =>
    `${api.base}/api/${operation}?${new URLSearchParams({ url: link, ...parameters, ...(access && { access }) })}`;
}

/** The quality without a preference: that of the preselected rendition. */
const DEFAULT_QUALITY = '1080p';

/** A preference without audio formats other than MP3, which these operations do not select by. */
export const askable = ({ container, ...rest }: FormatPreference): FormatPreference =>
  container === 'MP3' ? { container, ...rest } : rest;

/** The query parameters for a preference. MP3 files get tags, as single downloads do. */
export function selectionOf(preference: FormatPreference): Parameters {
  const quality = qualityOf(preference) ?? DEFAULT_QUALITY;
  if (quality === 'best') return { codec: 'any' };
  const { bitrateKbps } = preference;
  return { quality, ...(quality === 'mp3' && { tags: 'true', ...(bitrateKbps && { bitrate: String(bitrateKbps) }) }) };
}
