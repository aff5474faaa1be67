import { readSettings, SettingError, wholeNumber } from '../../core/config/index.ts';
import packageFile from '../../package.json' with { type: 'json' };

type Environment = Readonly<Record<string, string | undefined>>;

/** What the stack tells the functions behind the HTTP API. */
export interface FunctionEnvironment {
  readonly tableName: string;
  readonly stage: string;
  /** Of the service, without a `v`. */
  readonly version: string;
  readonly environment: 'Production' | 'Development';
  readonly origins: readonly string[];
  /** Absent: whoever asks is answered. */
  readonly originSecret?: string;
}

/** @throws SettingError in one line that names the variable */
export function readFunctionEnvironment(environment: Environment): FunctionEnvironment {
  const { corsAllowedOrigins: origins, environment: kind } = readSettings(environment);
  const originSecret = environment.ORIGIN_SECRET?.trim();
  return {
    tableName: required(environment, 'TABLE_NAME'),
    stage: environment.STAGE?.trim() || 'local',
    version: packageFile.version,
    environment: kind,
    origins,
    ...(originSecret && { originSecret }),
  };
}

/** @throws SettingError */
export function required(environment: Environment, name: string): string {
  const text = environment[name]?.trim();
  if (!text) throw new SettingError(`${name} must be set`);
  return text;
}

/** What the least account bears: it may run ten functions at once, and others ask besides. */
const FEW_ENTRIES = 4;

/** Entries of one playlist that other invocations resolve at once. @throws SettingError */
export function readEntriesAtOnce({ ENTRIES_AT_ONCE: text }: Environment): number {
  return text?.trim() ? wholeNumber(1, 100)('ENTRIES_AT_ONCE', text.trim()) : FEW_ENTRIES;
}
