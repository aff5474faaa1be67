import { type Operation, operations, operationsById } from '../../../core/api/index.ts';

/** The folder that the paths of all these operations have in common: `/api/Stream/`. */
function commonFolder([first, ...others]: readonly Operation[]): string {
  const folders = first?.path.split('/').slice(0, -1) ?? [];
  const shared = folders.findIndex((folder, index) => others.some(({ path }) => path.split('/')[index] !== folder));
  return `${folders.slice(0, shared < 0 ? undefined : shared).join('/')}/`;
}

/** The one path outside the folder of the API. */
export const MCP_PATH = operationsById.Mcp.path;

/** Prefixes of the paths that the edge handles alike, from the table of operations. With a slash at the end. */
export const API_PREFIX = commonFolder(operations.filter(({ path }) => path !== MCP_PATH));
export const STREAM_PREFIX = commonFolder(operations.filter(({ servedBy }) => servedBy === 'stream-service'));

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
