import { resolve } from 'node:path';

// Apart from target.ts, which only runs within vitest.

/** The extractor plugin of the origin's watch site. */
export const PLUGIN_DIR = resolve(import.meta.dirname, '../origin/plugin');
/** Origins that CORS of the target allows. */
export const ALLOWED_ORIGINS = ['https://app.example', 'https://other.example'];
