/** A fragment that identifies a page (`#!/video/1`, `#/video/1`). */
const ROUTE_FRAGMENT = /^#!?\//;
/** yt-dlp reads internal options from such a fragment, which could override the URL and headers of its requests. */
const SMUGGLED = '__youtubedl_smuggle';

/** The form in which a link is resolved and stored: WHATWG, without userinfo, and without a fragment that is not a route. */
export function normalizeLink(link: string): string {
  const url = new URL(link);
  url.username = '';
  url.password = '';
  if (!ROUTE_FRAGMENT.test(url.hash) || url.hash.includes(SMUGGLED)) url.hash = '';
  return url.href;
}
