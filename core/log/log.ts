/** Structured log. Fields must contain no secrets and no query of a media URL. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const noop = () => undefined;

/** Discards all messages. */
export const silentLog: Log = { info: noop, warn: noop, error: noop };
