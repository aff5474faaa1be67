import pino from 'pino';
import type { Log } from '../../layers/contract/index.ts';

/** Writes one JSON line an event, for whatever collects the output of containers. */
export function createTaskLog(out: pino.DestinationStream): Log {
  const logger = pino(
    {
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
      serializers: { error: pino.stdSerializers.err },
    },
    out,
  );
  return {
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
  };
}
