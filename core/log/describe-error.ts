/** Userinfo, and what follows the path: where links carry tokens. */
const SECRET_PARTS = /(\bhttps?:\/\/)(?:[^\s/?#@"'<>]*@)?([^\s?#"'<>]*)(?:[?#][^\s"'<>]*)?/gi;

/** How long a description may be, characters: what an upstream said may be in it. */
const LONGEST = 4_000;

/**
 * An error for the log, its causes behind it, in one text. Links in it are cut down to host and path.
 * @param inFull with the stack: for what nobody foresaw
 */
export function describeError(error: unknown, inFull = false): string {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  for (let at = error; at !== undefined && !seen.has(at); at = at instanceof Error ? at.cause : undefined) {
    seen.add(at);
    texts.push(inFull && at instanceof Error ? (at.stack ?? String(at)) : String(at));
  }
  return texts.join(' ← ').replace(SECRET_PARTS, '$1$2').slice(0, LONGEST);
}

/**
 * A field of a log line, as it may be written: an error as its text, and of every text what links in it carry behind
 * their paths is gone.
 */
export function withoutSecrets(value: unknown): unknown {
  if (value instanceof Error) return describeError(value, true);
  return typeof value === 'string' ? describeError(value) : value;
}

/** The same for the fields of a line. */
export const fieldsWithoutSecrets = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, withoutSecrets(value)]));
