import { anyText, type Parser, SettingError } from './parsers.ts';
import type { HostValues, Setting } from './setting.ts';
import { sharedSettings } from './shared-settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads one environment variable; a blank one counts as unset. @throws SettingError in one line that names it */
export type Variable<T> = (environment: Environment) => T;

const text = anyText('text');

/** A variable without which the process does not start. */
export function required(name: string): Variable<string>;
export function required<T>(name: string, parse: Parser<T>): Variable<T>;
export function required(name: string, parse: Parser<unknown> = text): Variable<unknown> {
  return (environment) => {
    const value = environment[name]?.trim();
    if (!value) throw new SettingError(`${name} must be set`);
    return parse(name, value);
  };
}

/** A variable that may be absent, with the value that it then has. */
export function optional(name: string): Variable<string | undefined>;
export function optional(name: string, absent: string): Variable<string>;
export function optional<T>(name: string, absent: T, parse: Parser<T>): Variable<T>;
export function optional(name: string, absent?: unknown, parse: Parser<unknown> = text): Variable<unknown> {
  return (environment) => {
    const value = environment[name]?.trim();
    return value ? parse(name, value) : absent;
  };
}

/** The values of a table of variables. */
export type ValuesOf<Table extends Readonly<Record<string, Variable<unknown>>>> = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]>;
};

/**
 * Reads the variables that the stack or AWS sets for one process. What an operator can set is in the settings table instead.
 * @throws SettingError in one line that names the first variable that is missing or invalid
 */
export const readVariables = <Table extends Readonly<Record<string, Variable<unknown>>>>(
  environment: Environment,
  table: Table,
): ValuesOf<Table> =>
  Object.fromEntries(Object.entries(table).map(([name, read]) => [name, read(environment)])) as ValuesOf<Table>;

type Shared = HostValues<typeof sharedSettings>;

/** One setting that hosts in AWS have too, for a table of `readVariables`. Its default does not depend on others. */
export const setting =
  <Name extends keyof Shared>(name: Name): Variable<Shared[Name]> =>
  (environment) =>
    readRow(sharedSettings[name], environment, {}) as Shared[Name];

/** A setting of a running host. */
export type Row = Setting<unknown> & { readonly variable: string };

/** The value of a setting. @param preceding those before it in the table @throws SettingError that names the variable */
export function readRow(
  { variable, parse, ...row }: Row,
  environment: Environment,
  preceding: Readonly<Record<string, unknown>>,
) {
  const text = environment[variable]?.trim();
  // A key that a variable failed to supply must not open the instance.
  if (text === '' && row.blankError) throw new SettingError(`${variable} is empty: ${row.blankError}`);
  return text ? parse(variable, text) : (row.default ?? row.computeDefault?.(preceding));
}
