export { parseKeys } from './access-keys.ts';
export { type ContextSettings, readContextSettings, variablesFor } from './context.ts';
export { availableMemoryBytes, memoryShares } from './machine-memory.ts';
export { oneOf, SettingError, wholeNumber } from './parsers.ts';
export { normalizeProxyUrl } from './proxy-url.ts';
export {
  createSecretRenewal,
  fetchSecret,
  readSettings,
  readSettingsInAws,
  type Settings,
  settingVariables,
} from './settings.ts';
export { renderSettingsReference } from './settings-reference.ts';
export { hostMatcher, matchesSite, type ProxyRule, parseImpersonationRule, parseProxyRule } from './site-rules.ts';
export { type Environment, optional, readVariables, required, setting, type ValuesOf } from './variables.ts';
