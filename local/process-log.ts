import pino from 'pino';
import { describeError } from '../lambdas/middleware/describe-error.ts';
import type { Log } from '../layers/contract/index.ts';

/** Writes one JSON line an event. Only what an operator must see: warnings and errors. */
export function createProcessLog(out: pino.DestinationStream): Log {
  const logger = pino(
    {
      level: 'warn',
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: describeErrors },
    },
    out,
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}

/** An error has nothing that JSON would show, and what a source said may have links with tokens in it. */
const describeErrors = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (value instanceof Error) return [name, describeError(value, true)];
      return [name, typeof value === 'string' ? describeError(value) : value];
    }),
  );
