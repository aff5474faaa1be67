import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../../layers/contract/index.ts';
import { describeError } from '../middleware/describe-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Structured lines with the invocation they belong to, as CloudWatch Logs Insights reads them. */
export function createFunctionLog(): Log & { readonly addContext: Logger['addContext'] } {
  const logger = new Logger();
  return {
    info: (message, fields) => logger.info(message, withoutSecrets(fields)),
    warn: (message, fields) => logger.warn(message, withoutSecrets(fields)),
    error: (message, fields) => logger.error(message, withoutSecrets(fields)),
    addContext: (context) => logger.addContext(context),
  };
}

/** Whoever logs an error, or what one said, need not know that links are in it. */
const withoutSecrets = (fields: Fields = {}): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (value instanceof Error) return [name, describeError(value, true)];
      return [name, typeof value === 'string' ? describeError(value) : value];
    }),
  );
