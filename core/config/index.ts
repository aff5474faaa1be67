export { type AccessKey, parseKeys } from './access-keys.ts';
export { type ContextSettings, readContextSettings, variablesFor } from './context.ts';
export { readCertificates } from './file-settings.ts';
export { availableMemoryBytes, type MemoryShares, memoryShares } from './machine-memory.ts';
export { oneOf, SettingError, wholeNumber } from './parsers.ts';
export { normalizeProxyUrl } from './proxy-url.ts';
export { createSecretRenewal, readSettingsInAws } from './secret-settings.ts';
export { readSettings, type Settings, settingVariables } from './settings.ts';
export { renderSettingsReference } from './settings-reference.ts';
export {
  hostMatcher,
  type ImpersonationRule,
  matchesSite,
  type ProxyRule,
  parseImpersonationRule,
  parseProxyRule,
  parseSitePattern,
} from './site-rules.ts';
export { type Environment, optional, readVariables, required, setting, type ValuesOf } from './variables.ts';
