export { oneOf, SettingError, wholeNumber } from './parsers.ts';
export * from './settings.ts';
