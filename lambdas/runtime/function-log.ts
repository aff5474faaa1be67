import { Logger } from '@aws-lambda-powertools/logger';
import type { MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { type Log, withoutSecrets } from '../../core/log/index.ts';

/** Structured log of a function as JSON lines. Errors become text with stack, and URLs are reduced to host and path. */
export function createFunctionLog(): Log & { readonly addContext: Logger['addContext'] } {
  // The replacer runs for every nested value, so that callers can log errors that contain media URLs.
  const logger = new Logger({ jsonReplacerFn: (_name, value) => withoutSecrets(value) });
  return {
    info: (message, fields = {}) => logger.info(message, fields),
    warn: (message, fields = {}) => logger.warn(message, fields),
    error: (message, fields = {}) => logger.error(message, fields),
    addContext: (context) => logger.addContext(context),
  };
}

/** Adds the invocation (request id, function, cold start) to every line that the handler logs. */
export const logContext = (log: { addContext(context: Context): void }): MiddlewareObj => ({
  before: ({ context }) => log.addContext(context),
});
