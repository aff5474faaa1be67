import { readSettings, SettingError, wholeNumber } from '../../core/config/index.ts';
import packageFile from '../../package.json' with { type: 'json' };

type Environment = Readonly<Record<string, string | undefined>>;

/** Environment variables of the functions behind the HTTP API. */
export interface FunctionEnvironment {
  readonly tableName: string;
  readonly stage: string;
  /** Version of the service, without a `v`. */
  readonly version: string;
  readonly environment: 'Production' | 'Development';
  readonly origins: readonly string[];
  /** Secret that every request must carry. Absent: no check. */
  readonly originSecret?: string;
}

/** @throws SettingError in one line that names the variable that is missing or invalid */
export function readFunctionEnvironment(environment: Environment): FunctionEnvironment {
  const { corsAllowedOrigins: origins, environment: kind } = readSettings(environment);
  const originSecret = environment.ORIGIN_SECRET?.trim();
  return {
    tableName: required(environment, 'TABLE_NAME'),
    stage: environment.STAGE?.trim() || 'local',
    version: packageFile.version,
    environment: kind,
    origins,
    originSecret: originSecret || undefined,
  };
}

/** @returns the trimmed value of a variable. @throws SettingError when it is missing or empty */
export function required(environment: Environment, name: string): string {
  const text = environment[name]?.trim();
  if (!text) throw new SettingError(`${name} must be set`);
  return text;
}

/** Fits new accounts, which may run ten functions at once. */
const DEFAULT_PARALLEL_ENTRIES = 4;

/** How many entries of a playlist are resolved in parallel invocations. @throws SettingError */
export function readEntriesAtOnce({ ENTRIES_AT_ONCE: text }: Environment): number {
  return text?.trim() ? wholeNumber(1, 100)('ENTRIES_AT_ONCE', text.trim()) : DEFAULT_PARALLEL_ENTRIES;
}
