const SECONDS_PARAMETERS = new Set(['expire', 'expires', 'exp', 'e']);
const IN_PATH = /\/(?:expire|expires)\/(\d{10})(?:\/|$)/;
const SIGNED_BY = ['x-amz', 'x-goog'];
/** A time further off than this is something else that looks like one. */
const FARTHEST_SECONDS = 400 * 86_400;

/**
 * When a signed URL dies, epoch seconds, as far as it says so itself: `expire=`, `Expires=`, `e=` …, the same in the
 * path, or the date and the lifetime of a signature of S3 or Google Cloud Storage.
 * @param now epoch seconds: a time that has passed already means something else
 */
export function urlExpiresAt(url: string, now: number): number | undefined {
  const parsed = URL.parse(url);
  if (!parsed) return undefined;
  const parameters = new Map(Array.from(parsed.searchParams, ([name, value]) => [name.toLowerCase(), value]));
  const times = [
    ...Array.from(parameters, ([name, value]) => (SECONDS_PARAMETERS.has(name) ? seconds(value) : Number.NaN)),
    ...SIGNED_BY.map((by) => signedUntil(parameters.get(`${by}-date`), parameters.get(`${by}-expires`))),
    seconds(IN_PATH.exec(parsed.pathname)?.[1]),
  ];
  const plausible = times.filter((time) => time > now && time < now + FARTHEST_SECONDS);
  return plausible.length > 0 ? Math.min(...plausible) : undefined;
}

/** Epoch seconds, or milliseconds as some sites write. */
function seconds(value: string | undefined): number {
  if (!value || !/^\d{10}(?:\d{3})?$/.test(value)) return Number.NaN;
  return value.length === 13 ? Math.floor(Number(value) / 1000) : Number(value);
}

/** `20261121T071100Z` and a lifetime in seconds. */
function signedUntil(date: string | undefined, lifetime: string | undefined): number {
  const iso = date?.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return iso && lifetime ? Date.parse(iso) / 1000 + Number(lifetime) : Number.NaN;
}
