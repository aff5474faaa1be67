import pino from 'pino';
import { fieldsWithoutSecrets, type Log } from '../../core/log/index.ts';

/** Writes one JSON line per event to the container's output. */
export function createTaskLog(out: pino.DestinationStream): Log {
  const logger = pino(
    {
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }), log: fieldsWithoutSecrets },
    },
    out,
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}
