import { problems } from './problem.ts';

/** Characters. */
const MAX_LINK_LENGTH = 4096;

/** The `url` parameter of GetResource. */
export interface LinkParameter {
  /** An absolute http or https URL, trimmed. */
  readonly link: string;
  /** The value as sent, before trimming. */
  readonly sent: string;
}

/**
 * Parses the `url` parameter of GetResource, decoded once. The first of several counts.
 * @param rawQuery the query string without its `?`, undecoded: ordinary form decoding, `+` is a space
 * @throws Problem 400 unless it is an absolute http or https URL with a host
 */
export function parseLinkParameter(rawQuery: string): LinkParameter {
  const sent = new URLSearchParams(rawQuery).get('url') ?? '';
  const link = sent.trim();
  if (link === '' || link.length > MAX_LINK_LENGTH) throw problems.badRequest();
  // URL.parse repairs `http:host` and `http:///host`, which are malformed links.
  if (!/^https?:\/\/[^/?#\\]/i.test(link)) throw problems.badRequest();
  const url = URL.parse(link);
  if (!url || url.hostname === '') throw problems.badRequest();
  return { link, sent };
}
