import { oneMachineSettings } from './one-machine-settings.ts';
import { anyText, type Parser, SettingError } from './parsers.ts';
import type { HostValues, Setting } from './setting.ts';
import { sharedSettings } from './shared-settings.ts';
import { checkProxyRules } from './site-rules.ts';

const serviceSettings = { ...sharedSettings, ...oneMachineSettings } as const;

/** The environment of a running host, read once and validated. All other code receives values as arguments. */
export type Settings = HostValues<typeof serviceSettings>;

/**
 * Reads the settings of a host from its environment. A blank variable counts as unset. The only files it opens are the
 * files of cookies, the folder of plugins and the file of access keys, so that an invalid one is reported before anything starts.
 * @throws SettingError in one line that names the variable
 */
export function readSettings(environment: Environment): Settings {
  const values: Record<string, unknown> = {};
  for (const [name, row] of Object.entries<Row>(serviceSettings)) values[name] = readRow(row, environment, values);
  const settings = values as Settings;
  checkProxyRules(serviceSettings.proxyRules.variable, settings.proxyRules, settings.outgoingProxies.length);
  return settings;
}

/** One setting, for a table of `readVariables`: its default does not depend on others. */
export const setting =
  <Name extends keyof Settings>(name: Name): Variable<Settings[Name]> =>
  (environment) =>
    readRow(serviceSettings[name], environment, {}) as Settings[Name];

type Row = Setting<unknown> & { readonly variable: string };

function readRow(
  { variable, parse, ...row }: Row,
  environment: Environment,
  preceding: Readonly<Record<string, unknown>>,
) {
  const text = environment[variable]?.trim();
  // A key that a variable failed to supply must not open the instance.
  if (text === '' && row.blankError) throw new SettingError(`${variable} is empty: ${row.blankError}`);
  return text ? parse(variable, text) : (row.default ?? row.computeDefault?.(preceding));
}

/** The environment variables of a host. */
export const settingVariables = (): ReadonlySet<string> =>
  new Set(Object.values(serviceSettings).map(({ variable }) => variable));

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
