import { SettingError } from './parsers.ts';
import { serviceSettings } from './service-settings.ts';
import type { HostValues, Setting } from './setting.ts';
import { checkProxyRules } from './site-rules.ts';

/** The environment of a running host, read once and validated. All other code receives values as arguments. */
export type Settings = HostValues<typeof serviceSettings>;

/**
 * Reads the settings of a host from its environment. A blank variable counts as unset. The only files it opens are the
 * files of cookies, the folder of plugins and the file of access keys, so that an invalid one is reported before anything starts.
 * @throws SettingError in one line that names the variable
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const values: Record<string, unknown> = {};
  for (const [name, { variable, parse, ...setting }] of Object.entries<Setting<unknown> & { variable: string }>(
    serviceSettings,
  )) {
    const text = environment[variable]?.trim();
    // A key that a variable failed to supply must not open the instance.
    if (text === '' && setting.blankError) throw new SettingError(`${variable} is empty: ${setting.blankError}`);
    values[name] = text ? parse(variable, text) : (setting.default ?? setting.computeDefault?.(values));
  }
  const settings = values as Settings;
  checkProxyRules(serviceSettings.proxyRules.variable, settings.proxyRules, settings.outgoingProxies.length);
  return settings;
}

/** The environment variables of a host. */
export const settingVariables = (): ReadonlySet<string> =>
  new Set(Object.values(serviceSettings).map(({ variable }) => variable));
