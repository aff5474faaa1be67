import { oneMachineSettings } from './one-machine-settings.ts';
import { SettingError } from './parsers.ts';
import type { HostValues } from './setting.ts';
import { sharedSettings } from './shared-settings.ts';
import { checkProxyRules } from './site-rules.ts';
import { type Environment, type Row, readRow } from './variables.ts';

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
  const { userHeader, proxyAddresses, trustedProxies } = settings;
  if (userHeader !== undefined && (proxyAddresses.length === 0 || trustedProxies === 0))
    throw new SettingError(
      'USER_HEADER must be beside TRUSTED_PROXIES and PROXY_ADDRESSES: without them anyone could claim to be any user',
    );
  return settings;
}

/** The environment variables of a host. */
export const settingVariables = (): ReadonlySet<string> =>
  new Set(Object.values(serviceSettings).map(({ variable }) => variable));
