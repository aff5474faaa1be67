/** Where a layer says what happened. Fields are data for a machine; no secret and no media URL's query goes in. */
export interface Log {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

const nothing = () => undefined;

/** For a caller that does not want to hear. */
export const silentLog: Log = { info: nothing, warn: nothing, error: nothing };
