import { signLink } from '../../access/index.ts';
import { type FormatPreference, qualityOf } from '../../renditions/index.ts';
import { usePage } from '../context.ts';
import { useLoaded } from '../controls/index.ts';

/** Returns addresses of operations that resolve a link; of a private instance for clients without a key. */
export function useSignedUrls(link: string): (operation: string, options: Readonly<Record<string, string>>) => string {
  const { api } = usePage();
  const access = useLoaded(() => signLink(link), [link]);
  return (operation, options) =>
    `${api.base}/api/${operation}?${new URLSearchParams({ url: link, ...options, ...(access && { access }) })}`;
}

/** Without a preference, as it is preselected. */
const DEFAULT_QUALITY = '1080p';
/** The API reads five digits; a preference may be for any height. */
const MAX_HEIGHT = 99_999;

/** The parameter `quality` of these operations. */
export function apiQualityOf(preference: FormatPreference | undefined): string {
  if (preference?.group === 'video' && (preference.height ?? 0) > MAX_HEIGHT) return 'best';
  return (preference && qualityOf(preference)) ?? DEFAULT_QUALITY;
}
