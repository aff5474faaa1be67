export { oneOf, SettingError, wholeNumber } from './parsers.ts';
export { readSettingsInAws } from './secret-settings.ts';
export { readSettings, type Settings } from './settings.ts';
