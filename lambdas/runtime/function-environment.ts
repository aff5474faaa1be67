import {
  type Environment,
  optional,
  readVariables,
  required,
  setting,
  type ValuesOf,
  wholeNumber,
} from '../../core/config/index.ts';
import packageFile from '../../package.json' with { type: 'json' };

const VARIABLES = {
  tableName: required('TABLE_NAME'),
  stage: optional('STAGE', 'local'),
  /** Every request must carry it. Absent: no check. */
  originSecret: optional('ORIGIN_SECRET'),
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
