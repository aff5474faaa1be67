export { buildAssets } from './build/index.ts';
export { Reelay, type ReelayProps } from './constructs/index.ts';
export { renderRegions } from './settings.ts';
