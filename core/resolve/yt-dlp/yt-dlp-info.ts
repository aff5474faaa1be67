export { positiveInteger, positiveNumber, withoutAbsent } from '../../media/index.ts';
export { type Info, infoList, isInfo, isList, isResolvedEntry, text, webUrl } from '../../parsing/index.ts';

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

const SECONDS_PARAMETERS = new Set(['expire', 'expires', 'exp', 'e']);
const PATH_PARAMETER = /\/(?:expire|expires)\/(\d{10})(?:\/|$)/;
/** Prefixes of the signature parameters of S3 and Google Cloud Storage. */
const SIGNATURE_PREFIXES = ['x-amz', 'x-goog'];
/** Further ones are not read. */
const MAX_PARAMETERS = 100;
/** A number further in the future is not an expiry. */
const MAX_LIFETIME_SECONDS = 400 * 86_400;

/**
 * When a signed URL expires, read from the URL itself: `expire=`, `Expires=`, `e=` …, the same in the path, or date and
 * lifetime of an S3 or Google Cloud Storage signature.
 * @param now epoch seconds: a number in the past is not an expiry
 * @returns epoch seconds; undefined when the URL does not say
 */
export function urlExpiresAt(url: string, now: number): number | undefined {
  const parsed = URL.parse(url);
  if (!parsed) return undefined;
  const query = new URLSearchParams(parsed.search.slice(1).split('&', MAX_PARAMETERS).join('&'));
  const parameters = new Map(Array.from(query, ([name, value]) => [name.toLowerCase(), value]));
  const times = [
    ...Array.from(parameters, ([name, value]) => (SECONDS_PARAMETERS.has(name) ? seconds(value) : Number.NaN)),
    ...SIGNATURE_PREFIXES.map((prefix) =>
      signatureExpiry(parameters.get(`${prefix}-date`), parameters.get(`${prefix}-expires`)),
    ),
    seconds(PATH_PARAMETER.exec(parsed.pathname)?.[1]),
  ];
  const plausible = times.filter((time) => time > now && time < now + MAX_LIFETIME_SECONDS);
  return plausible.length > 0 ? Math.min(...plausible) : undefined;
}

/** Reads epoch seconds, or epoch milliseconds, which some sites write. */
function seconds(value: string | undefined): number {
  if (!value || !/^\d{10}(?:\d{3})?$/.test(value)) return Number.NaN;
  return value.length === 13 ? Math.floor(Number(value) / 1000) : Number(value);
}

/** `20261121T071100Z` and a lifetime in seconds. */
function signatureExpiry(date: string | undefined, lifetime: string | undefined): number {
  const iso = date?.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return iso && lifetime ? Date.parse(iso) / 1000 + Number(lifetime) : Number.NaN;
}
