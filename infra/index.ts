export { renderRegions } from './settings.ts';
