/** What is reported while programs are installed and started. Fields may hold errors, whose messages may have URLs. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const noop = () => undefined;

/** Discards all messages. */
export const silentLog: Log = { info: noop, warn: noop, error: noop };
