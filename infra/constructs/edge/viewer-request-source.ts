import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '../../../core/api/index.ts';
import { API_PREFIX } from './path-prefixes.ts';

/** The paths and methods that the edge function knows, with the origin that serves each. */
const routes = operations.map(({ path, methods, servedBy }) => ({
  origin: servedBy === 'function' ? 'api' : 'stream',
  path,
  methods: [...methods, 'OPTIONS'].join(', '),
}));

/**
 * Query parameters that change what a stream endpoint sends. The edge function removes all others, so that the cache key
 * contains everything that the origin sees.
 */
export const STREAM_PARAMETERS: readonly string[] = [
  ...new Set(
    operations
      .filter(({ servedBy }) => servedBy === 'stream-service')
      .flatMap(({ parameters }) => parameters.filter((parameter) => parameter.in === 'query'))
      .map(({ name }) => name),
  ),
].sort();

/** The source of the edge function for a kind of stream host, with the routes of the API. */
export const viewerRequestSource = (mode: 'balanced' | 'on-demand'): string =>
  readFileSync(join(import.meta.dirname, 'viewer-request.js'), 'utf8')
    .replace('__MODE__', mode)
    .replace('__API_PREFIX__', API_PREFIX.toLowerCase())
    .replace('__STREAM_PARAMETERS__', STREAM_PARAMETERS.join(','))
    // Neither paths nor methods contain a quote or a backslash.
    .replace('__ROUTES__', JSON.stringify(routes));
