import { Logger } from '@aws-lambda-powertools/logger';
import { type Log, withoutSecrets } from '../../core/log/index.ts';

/** Structured lines with the invocation they belong to, as CloudWatch Logs Insights reads them. */
export function createFunctionLog(): Log & { readonly addContext: Logger['addContext'] } {
  // Whoever logs an error, or what one said, need not know that links are in it: of every text, however deep.
  const logger = new Logger({ jsonReplacerFn: (_name, value) => withoutSecrets(value) });
  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
    addContext: (context) => logger.addContext(context),
  };
}
