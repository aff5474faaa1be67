/** The types under which every JSON body is offered, the one that wins a tie first. */
export const JSON_TYPES = ['application/json', 'text/json', 'text/plain'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

/** A JSON answer, ready for any host. */
export interface JsonResponse {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A body in the type that `accept` rates highest. */
export const renderJson = (value: unknown, accept: string | undefined): JsonResponse => ({
  headers: { 'content-type': `${chooseJsonType(accept)}; charset=utf-8`, vary: 'Accept' },
  body: JSON.stringify(value),
});

/**
 * The JSON type that an Accept header rates highest (RFC 9110 §12.5.1). A tie, a wildcard, another type or no header
 * give `application/json`: nobody is refused for what they accept. (A library picks the first of a tie instead.)
 */
export function chooseJsonType(accept = ''): JsonType {
  const ranges = accept.split(',', MOST_RANGES).map(parseRange);
  const rated = JSON_TYPES.map((type) => ({ type, weight: weightOf(type, ranges) }));
  const highest = Math.max(...rated.map(({ weight }) => weight));
  const best = rated.filter(({ weight }) => weight === highest);
  return best.length === 1 && best[0] ? best[0].type : 'application/json';
}

/** Ranges read of a header: more are a client's mischief. */
const MOST_RANGES = 64;

interface MediaRange {
  readonly range: string;
  readonly weight: number;
}

function parseRange(text: string): MediaRange {
  const [range = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return { range, weight: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 };
}

/** The most specific range that names the type decides. */
function weightOf(type: JsonType, ranges: readonly MediaRange[]): number {
  const names = [type, `${type.split('/')[0]}/*`, '*/*'];
  for (const name of names) {
    const found = ranges.find(({ range }) => range === name);
    if (found) return found.weight;
  }
  return 0;
}
