import { deploymentSettings } from './deployment-settings.ts';
import { serviceSettings } from './service-settings.ts';

/**
 * Every setting, once. It drives reading the environment (`readSettings`), CDK context (`readContextSettings`), the
 * variables that the stack sets (`variablesFor`) and `docs/settings.md`.
 */
export const settingsTable = { ...serviceSettings, ...deploymentSettings } as const;
