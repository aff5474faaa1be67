import { Logger } from '@aws-lambda-powertools/logger';
import type { Log } from '../../layers/contract/index.ts';

/** Structured lines with the invocation they belong to, as CloudWatch Logs Insights reads them. */
export function createFunctionLog(): Log & { readonly addContext: Logger['addContext'] } {
  const logger = new Logger();
  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
    addContext: (context) => logger.addContext(context),
  };
}
