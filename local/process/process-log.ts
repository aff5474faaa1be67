import pino from 'pino';
import { fieldsWithoutSecrets, type Log } from '../../core/log/index.ts';

/** Writes one JSON line per event. Warnings and errors only. */
export function createProcessLog(out: pino.DestinationStream): Log {
  const logger = pino(
    {
      level: 'warn',
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { log: fieldsWithoutSecrets },
    },
    out,
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}
