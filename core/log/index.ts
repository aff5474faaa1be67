/** Structured log. Fields must contain no secrets and no query of a media URL. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const noop = () => undefined;

/** Discards all messages. */
export const silentLog: Log = { info: noop, warn: noop, error: noop };

/** Userinfo, query and fragment of URLs, which may contain tokens. */
const SECRET_PARTS = /(\bhttps?:\/\/)(?:[^\s/?#@"'<>]*@)?([^\s?#"'<>]*)(?:[?#][^\s"'<>]*)?/gi;

/** Maximum characters of a description, which may contain text of an upstream. */
const MAX_LENGTH = 4_000;

/**
 * Describes an error and its causes in one text for the log. URLs are reduced to host and path.
 * @param withStack includes stack traces: for unexpected errors
 */
export function describeError(error: unknown, withStack = false): string {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  for (let at = error; at !== undefined && !seen.has(at); at = at instanceof Error ? at.cause : undefined) {
    seen.add(at);
    texts.push(withStack && at instanceof Error ? (at.stack ?? String(at)) : String(at));
  }
  return texts.join(' ← ').replace(SECRET_PARTS, '$1$2').slice(0, MAX_LENGTH);
}

/**
 * A log field without secrets: errors as text with stack, and URLs in texts reduced to host and path.
 */
export function withoutSecrets(value: unknown): unknown {
  if (value instanceof Error) return describeError(value, true);
  return typeof value === 'string' ? describeError(value) : value;
}

/** Applies `withoutSecrets` to every field of a log line. */
export const fieldsWithoutSecrets = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withoutSecrets(value)]));

/** A log that writes through a logger of pino, without secrets. */
export const logThrough = (logger: Readonly<Record<keyof Log, (fields: object, message: string) => void>>): Log => ({
  info: (message, fields = {}) => logger.info(fieldsWithoutSecrets(fields), message),
  warn: (message, fields = {}) => logger.warn(fieldsWithoutSecrets(fields), message),
  error: (message, fields = {}) => logger.error(fieldsWithoutSecrets(fields), message),
});
