import { operations, operationsById } from '../../../core/api/index.ts';

/** The one path outside the folder of the API. */
export const MCP_PATH = operationsById.Mcp.path;

/** Prefixes of the paths that the edge handles alike. */
export const API_PREFIX = '/api/';
export const STREAM_PREFIX = '/api/Stream/';

/** Paths of functions in the folder of the stream service, whose cache key has none of their parameters. */
export const FUNCTION_PATHS_OF_STREAMS: readonly string[] = operations
  .filter(({ servedBy, path }) => servedBy === 'function' && path.startsWith(STREAM_PREFIX))
  .map(({ path }) => path);

/** Paths of the operations that resolve a link: by far the most expensive ones. */
export const RESOLVE_PATHS: readonly string[] = operations
  .filter(({ servedBy, parameters }) => servedBy === 'function' && parameters.some(({ name }) => name === 'url'))
  .map(({ path }) => path)
  .concat(MCP_PATH);

/** A CloudFront path pattern for a path in any case: patterns are case-sensitive, and `?` matches any one character. */
export const anyCasePath = (path: string): string => path.replaceAll(/[a-z]/gi, '?');

/** The same for all paths with a prefix. */
export const anyCasePattern = (prefix: string): string => `${anyCasePath(prefix)}*`;
