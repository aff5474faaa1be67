import { Logger } from '@aws-lambda-powertools/logger';
import type { MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import {
  type Environment,
  optional,
  readVariables,
  required,
  setting,
  type ValuesOf,
  wholeNumber,
} from '../core/config/index.ts';
import { type Log, withoutSecrets } from '../core/log/index.ts';
import packageFile from '../package.json' with { type: 'json' };

const VARIABLES = {
  tableName: required('TABLE_NAME'),
  stage: optional('STAGE', 'local'),
  environment: setting('environment'),
  origins: setting('corsAllowedOrigins'),
};

/** Environment of the functions behind the HTTP API. */
interface FunctionEnvironment extends ValuesOf<typeof VARIABLES> {
  /** Version of the service, without a `v`. */
  readonly version: string;
}

/** @throws SettingError in one line that names the variable that is missing or invalid */
export const readFunctionEnvironment = (variables: Environment): FunctionEnvironment => ({
  ...readVariables(variables, VARIABLES),
  version: packageFile.version,
});

/** How many entries of a playlist are resolved in parallel invocations. The default fits new accounts: ten executions at once. */
export const ENTRIES_AT_ONCE = optional('ENTRIES_AT_ONCE', 4, wholeNumber(1, 100));

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
