import type { MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';

/** Adds the invocation (request id, function, cold start) to every line that the handler logs. */
export const logContext = (log: { addContext(context: Context): void }): MiddlewareObj => ({
  before: ({ context }) => log.addContext(context),
});
