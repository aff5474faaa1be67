/** A fragment that pages use as a path (`#!/video/1`, `#/video/1`): without it, it is another page. */
const ROUTE_FRAGMENT = /^#!?\//;
/** yt-dlp reads options out of such a fragment: a way to override what is resolved and what is sent. */
const SMUGGLED = '__youtubedl_smuggle';

/**
 * A link in the form under which it is asked for and kept: WHATWG, without userinfo, and without a fragment, except
 * one that is a route.
 */
export function normalizeLink(link: string): string {
  const url = new URL(link);
  url.username = '';
  url.password = '';
  if (!ROUTE_FRAGMENT.test(url.hash) || url.hash.includes(SMUGGLED)) url.hash = '';
  return url.href;
}
