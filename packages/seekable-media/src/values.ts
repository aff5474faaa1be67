import { createHash } from 'node:crypto';

/** Above any file size, in bytes. */
const MAX_NUMBER = 1e13;

/** A number above zero. yt-dlp writes 0 for a missing track, and null for an unknown value. */
export const positiveNumber = (value: unknown, max = MAX_NUMBER): number | undefined =>
  typeof value === 'number' && value > 0 && value < max ? value : undefined;

/** For pixels and hertz: rounded up, within 32 bits. */
export const positiveInteger = (value: unknown): number | undefined => {
  const number = positiveNumber(value, 2 ** 31 - 1);
  return number === undefined ? undefined : Math.ceil(number);
};

/** Drops undefined fields: an unknown value is absent, in the table too. */
export const withoutAbsent = <T extends object>(value: { [K in keyof T]: T[K] | undefined }): T =>
  Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as T;

/** What Python writes for numbers that JSON has not. Strings are matched too, so that they are left as they are. */
const STRING_OR_CONSTANT = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b/g;

/** Parses JSON, or what Python writes as such, with null for NaN and Infinity; undefined for other text. */
export const parsePythonJson = (text: string): unknown =>
  parseJson(text) ?? parseJson(text.replaceAll(STRING_OR_CONSTANT, (part) => (part[0] === '"' ? part : 'null')));

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** About four months: a larger number is not a duration. */
const MAX_DURATION_SECONDS = 1e7;

/** The value if it is a plausible duration in seconds, above zero; undefined otherwise. */
export const duration = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 && value < MAX_DURATION_SECONDS ? value : undefined;

/** Below the bitrate of any codec, silence included: FLAC takes 1 kbit/s for it, AAC 2 kbit/s. */
const MIN_BITS_PER_SECOND = 400;
/** Shorter durations are accepted without a check. */
const MAX_UNCHECKED_SECONDS = 60;

/** The duration, unless a file of `sizeBytes` cannot hold as much media: a header or a page may declare anything. */
export const plausibleDuration = (seconds: number | undefined, sizeBytes: number | undefined): number | undefined =>
  seconds === undefined ||
  sizeBytes === undefined ||
  seconds <= MAX_UNCHECKED_SECONDS ||
  (sizeBytes * 8) / seconds >= MIN_BITS_PER_SECOND
    ? seconds
    : undefined;

/** 132 bits in base64url. */
const CHARACTERS = 22;

/** A digest in base64url of bytes or text, or of the JSON of another value, which differs where the values do. */
export const digestOf = (value: unknown, characters = CHARACTERS): string =>
  createHash('sha256')
    .update(typeof value === 'string' || value instanceof Uint8Array ? value : JSON.stringify(value))
    .digest('base64url')
    .slice(0, characters);

/**
 * Memory for work of one turn of the event loop, which the next such work uses again: to map new memory takes longer than to copy into it.
 * It is freed by the garbage collector.
 * @returns gives so many bytes, of any content
 */
export function createWorkspace(): (bytes: number) => Buffer {
  let last: WeakRef<Buffer> | undefined;
  return (bytes) => {
    const known = last?.deref();
    if (known && known.length >= bytes) return known.subarray(0, bytes);
    const created = Buffer.allocUnsafeSlow(bytes);
    last = new WeakRef(created);
    return created;
  };
}
