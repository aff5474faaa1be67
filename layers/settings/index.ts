export { SettingError } from './parsers.ts';
export * from './settings.ts';
