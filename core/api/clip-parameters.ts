import { problems } from './problem.ts';

/** A part of a presentation in seconds. */
export interface ClipParameters {
  readonly startSeconds: number;
  /** Infinite: to the end. */
  readonly endSeconds: number;
}

/** Seconds: up to 11 days, to the microsecond. */
const SECONDS = /^\d{1,6}(?:\.\d{1,6})?$/;

/**
 * Parses the `start` and `end` parameters of Media; undefined without either.
 * @param query decoded; a repeated parameter is an array
 * @throws Problem 400 unless they are decimal numbers of seconds, once each, with the start before the end
 */
export function parseClipParameters(query: {
  readonly start?: string | string[];
  readonly end?: string | string[];
}): ClipParameters | undefined {
  if (query.start === undefined && query.end === undefined) return undefined;
  const startSeconds = parseSeconds('start', query.start) ?? 0;
  const endSeconds = parseSeconds('end', query.end) ?? Number.POSITIVE_INFINITY;
  if (endSeconds <= startSeconds) throw problems.badRequest('end has to be later than start');
  return { startSeconds, endSeconds };
}

function parseSeconds(name: string, value: string | string[] | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw problems.badRequest(`${name} is given more than once`);
  if (!SECONDS.test(value)) throw problems.badRequest(`${name} has to be a number of seconds, such as 12.5`);
  return Number(value);
}
