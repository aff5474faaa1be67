import { problems } from './problem.ts';

/** Characters of a link at most. */
const LONGEST_LINK = 4096;

/** What a GetResource asks for. */
export interface LinkParameter {
  /** An absolute http or https URL, without the blanks around it that come with pasting. */
  readonly link: string;
  /** The string that this caller sent. */
  readonly sent: string;
}

/**
 * The link that a GetResource asks for, after one decoding. Of several `url` the first counts.
 * @param rawQuery the query string without its `?`, undecoded: ordinary form decoding, `+` is a space
 * @throws Problem 400 unless it is an absolute http or https URL with a host
 */
export function parseLinkParameter(rawQuery: string): LinkParameter {
  const sent = new URLSearchParams(rawQuery).get('url') ?? '';
  const link = sent.trim();
  if (link === '' || link.length > LONGEST_LINK) throw problems.badRequest();
  // The URL standard would repair `http:host` and `http:///host`: a link that needs it is malformed.
  if (!/^https?:\/\/[^/?#\\]/i.test(link)) throw problems.badRequest();
  const url = URL.parse(link);
  if (!url || url.hostname === '') throw problems.badRequest();
  return { link, sent };
}
