import { SettingError } from './parsers.ts';
import { serviceSettings } from './service-settings.ts';
import type { HostValues, Setting } from './setting.ts';
import { checkProxyRules } from './site-rules.ts';
import type { Environment, Variable } from './variables.ts';

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
