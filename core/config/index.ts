export { type ContextSettings, readContextSettings, variablesFor } from './context.ts';
export { parseKeys } from './file-settings.ts';
export { availableMemoryBytes, memoryShares } from './machine-memory.ts';
export { normalizeProxyUrl, oneOf, SettingError, wholeNumber } from './parsers.ts';
export {
  createSecretRenewal,
  type Environment,
  fetchSecret,
  optional,
  readSettings,
  readSettingsInAws,
  readVariables,
  required,
  type Settings,
  setting,
  settingVariables,
  type ValuesOf,
} from './settings.ts';
export { renderSettingsReference } from './settings-reference.ts';
export { hostMatcher, matchesSite, type ProxyRule, parseImpersonationRule, parseProxyRule } from './site-rules.ts';
