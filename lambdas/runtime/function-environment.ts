import {
  type Environment,
  optional,
  readSettings,
  readVariables,
  required,
  type ValuesOf,
  wholeNumber,
} from '../../core/config/index.ts';
import packageFile from '../../package.json' with { type: 'json' };

const VARIABLES = {
  tableName: required('TABLE_NAME'),
  stage: optional('STAGE', 'local'),
  /** Every request must carry it. Absent: no check. */
  originSecret: optional('ORIGIN_SECRET'),
};

/** Environment of the functions behind the HTTP API. */
export interface FunctionEnvironment extends ValuesOf<typeof VARIABLES> {
  /** Version of the service, without a `v`. */
  readonly version: string;
  readonly environment: 'Production' | 'Development';
  readonly origins: readonly string[];
}

/** @throws SettingError in one line that names the variable that is missing or invalid */
export function readFunctionEnvironment(variables: Environment): FunctionEnvironment {
  const { corsAllowedOrigins: origins, environment } = readSettings(variables);
  return { ...readVariables(variables, VARIABLES), version: packageFile.version, environment, origins };
}

/** How many entries of a playlist are resolved in parallel invocations. The default fits new accounts: ten executions at once. */
export const ENTRIES_AT_ONCE = optional('ENTRIES_AT_ONCE', 4, wholeNumber(1, 100));
