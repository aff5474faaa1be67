export { oneOf, SettingError, wholeNumber } from './parsers.ts';
export { loadSecretSettings, readSettingsInAws } from './secret-settings.ts';
export * from './settings.ts';
