/** The media types of JSON responses; the first wins a tie. */
export const JSON_TYPES = ['application/json', 'text/json', 'text/plain'] as const;
type JsonType = (typeof JSON_TYPES)[number];

/** A JSON response without its status. */
interface JsonResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Serializes a value as the JSON type that `accept` prefers. */
export const renderJson = (value: unknown, accept: string | undefined): JsonResponse => ({
  headers: { 'content-type': `${chooseJsonType(accept)}; charset=utf-8`, vary: 'Accept' },
  body: JSON.stringify(value),
});

/**
 * The JSON type that an Accept header prefers (RFC 9110 §12.5.1). `application/json` for a tie, a wildcard, another type or
 * no header: 406 is never answered. Libraries choose the client's first type in a tie instead.
 */
export function chooseJsonType(accept = ''): JsonType {
  const ranges = parseAccept(accept);
  const rated = JSON_TYPES.map((type) => ({ type, weight: weightOf(type, ranges) }));
  const highest = Math.max(...rated.map(({ weight }) => weight));
  const best = rated.filter(({ weight }) => weight === highest);
  return best.length === 1 && best[0] ? best[0].type : 'application/json';
}

/** Whether an Accept header prefers HTML to JSON, as those of browsers do that open an address. */
export function prefersHtml(accept = ''): boolean {
  const ranges = parseAccept(accept);
  return JSON_TYPES.every((type) => weightOf(type, ranges) < weightOf('text/html', ranges));
}

/**
 * The seconds that a client prefers to wait at most, of a Prefer header such as `wait=3` (RFC 7240 §4.3). Undefined without that
 * preference, or for a malformed one, which is ignored.
 */
export function readWaitPreference(prefer = ''): number | undefined {
  const preference = prefer
    .split(',', MAX_PREFERENCES)
    .map((part) => part.split(';')[0]?.trim() ?? '')
    .find((part) => /^wait\b/i.test(part));
  const [, digits] = /^wait\s*=\s*"?(\d{1,6})"?$/i.exec(preference ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Preferences read of a header, which bounds the cost of a malicious one. */
const MAX_PREFERENCES = 16;

/** Media ranges parsed of a header, which bounds the cost of a malicious one. */
const MAX_MEDIA_RANGES = 64;

const parseAccept = (accept: string): MediaRange[] => accept.split(',', MAX_MEDIA_RANGES).map(parseRange);

interface MediaRange {
  readonly range: string;
  readonly weight: number;
}

function parseRange(text: string): MediaRange {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return { range, weight: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 };
}

/** The weight of the most specific range that matches the type. */
function weightOf(type: string, ranges: readonly MediaRange[]): number {
  const names = [type, `${type.split('/')[0]}/*`, '*/*'];
  for (const name of names) {
    const found = ranges.find(({ range }) => range === name);
    if (found) return found.weight;
  }
  return 0;
}
