import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import {
  contactLines,
  MAX_BODY_BYTES,
  operations,
  operationsById,
  routes,
  SECURITY_TEXT_PATH,
  SECURITY_TEXT_VALID_MS,
} from '../../../core/api/index.ts';
import { SettingError } from '../../../core/config/index.ts';
import type { Deployment } from '../../profiles.ts';

/** The paths of the API, grouped by origin and methods to keep the function short. */
function groupRoutes() {
  const targets = routes.map(({ path, methods, servedBy }) => ({
    path,
    origin: servedBy === 'function' ? 'api' : 'stream',
    methods: [...methods, 'OPTIONS'].join(', '),
  }));
  const groups = Map.groupBy(targets, ({ origin, methods }) => `${origin} ${methods}`);
  return [...groups.values()].map((group) => ({ ...group[0], path: undefined, paths: group.map(({ path }) => path) }));
}

/**
 * Parameters that are not in the cache key. They change no byte, and no cache keeps responses to requests with them. A cache
 * policy can exclude ten at most.
 */
export const UNCACHED_PARAMETERS = ['jobId', 'name'];

/**
 * Query parameters that change what a stream endpoint sends. The edge function removes all others but these and
 * those that are not in the cache key, so that the cache key contains everything that changes the response of the origin.
 */
export const STREAM_PARAMETERS: readonly string[] = [
  ...new Set(
    operations
      .filter(({ servedBy }) => servedBy === 'stream-service')
      .flatMap(({ parameters }) => parameters.filter((parameter) => parameter.in === 'query'))
      .map(({ name }) => name)
      .filter((name) => !UNCACHED_PARAMETERS.includes(name)),
  ),
].sort();

interface ViewerRequestOptions {
  /** `on-demand`: the origin of streams is the registered task. `balanced`: it is always the same. */
  readonly mode: 'balanced' | 'on-demand';
  /** Whether the key-value store has access keys. @default false */
  readonly isPrivate?: boolean;
  /** Origins whose pages may read responses, or `*` for any. @default none */
  readonly corsAllowedOrigins?: readonly string[];
  /** URIs at which to report vulnerabilities. @default none */
  readonly securityContacts?: readonly string[];
}

/** CloudFront's limit of a function. */
export const MAX_FUNCTION_BYTES = 10_240;

/**
 * The source that a deployment has.
 * @throws SettingError when its settings make it too long
 */
export const deployedSource = (deployment: Pick<Deployment, 'settings' | 'profile'>): string => {
  const { settings, profile } = deployment;
  return viewerRequestSource({
    mode: profile.streamHost === 'on-demand' ? 'on-demand' : 'balanced',
    isPrivate: settings.accessKeysSecret !== undefined,
    corsAllowedOrigins: settings.corsAllowedOrigins,
    securityContacts: settings.securityContact,
  });
};

/** `selectOrigin` where every origin is one of the distribution. */
const SELECT_BY_ID = 'const selectOrigin = (id) => cf.selectRequestOriginById(id);';

/**
 * The source of the edge function: imports, constants with the routes of the API, and the files of the parts that the instance needs.
 * It has no code for access keys where it is open, and none for a contact where it has none.
 * @throws SettingError when settings make it too long
 */
export function viewerRequestSource({
  mode,
  isPrivate = false,
  corsAllowedOrigins = [],
  securityContacts = [],
}: ViewerRequestOptions): string {
  const isOnDemand = mode === 'on-demand';
  const hasContact = securityContacts.length > 0;
  const constants = {
    ROUTES: groupRoutes(),
    API_PREFIX: API_PREFIX.toLowerCase(),
    STREAM_PARAMETERS: [...STREAM_PARAMETERS, ...UNCACHED_PARAMETERS],
    MAX_BODY_BYTES,
    CORS_ORIGINS: corsAllowedOrigins,
    VARY: ['Accept', 'Origin', ...(isPrivate ? ['Authorization', 'X-Api-Key', 'Cookie'] : [])].join(', '),
    ...(hasContact && { SECURITY_TEXT_PATH, SECURITY_TEXT_VALID_MS, CONTACT_LINES: contactLines(securityContacts) }),
    ...(isPrivate && {
      PUBLIC_PATH: operationsById.GetAppInfo.path,
      SIGNED_PATHS: [operationsById.Get.path, operationsById.Feed.path],
    }),
  };
  const steps = [...(hasContact ? ['sendSecurityText'] : []), ...(isPrivate ? ['admit'] : [])];
  return limited(
    [
      "import cf from 'cloudfront';",
      ...(isPrivate || isOnDemand ? ["import crypto from 'crypto';"] : []),
      ...Object.entries(constants).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`),
      `const STEPS = [${steps.join(', ')}];`,
      readSource('viewer-request.js'),
      ...(hasContact ? [readSource('viewer-request-contact.js')] : []),
      ...(isPrivate ? [readSource('viewer-request-access.js')] : []),
      isOnDemand ? readSource('viewer-request-task.js') : SELECT_BY_ID,
    ].join('\n'),
  );
}

/** Minified where the source would exceed CloudFront's limit. @throws SettingError when it still does */
function limited(source: string): string {
  if (Buffer.byteLength(source) <= MAX_FUNCTION_BYTES) return source;
  const short = minify(source);
  const excess = Buffer.byteLength(short) - MAX_FUNCTION_BYTES;
  if (excess <= 0) return short;
  throw new SettingError(
    `corsAllowedOrigins and securityContact make the edge function ${excess} bytes too long for CloudFront: shorten them`,
  );
}

/** A file without its comments, which would take most of the function's limit. */
const readSource = (name: string): string =>
  readFileSync(join(import.meta.dirname, name), 'utf8').replaceAll(/^ *\/\/.*\n/gm, '');

/** Keeps syntax and global names: the runtime supports a subset of JavaScript, and calls `handler` by its name. */
function minify(source: string): string {
  // Without its imports, by which esbuild would take it for a module and rename `handler`.
  const [imports = '', script] = source.split(/(?<=^import .*\n)(?!import )/m, 2);
  return (
    imports + transformSync(script ?? '', { minifyWhitespace: true, minifyIdentifiers: true, charset: 'utf8' }).code
  );
}

/** The only operation whose path is not below that of the API. */
export const MCP_PATH = operationsById.Mcp.path;

/** Prefixes of paths with a behaviour of their own. */
export const API_PREFIX = '/api/';
export const STREAM_PREFIX = '/api/Stream/';

/** Paths below that of streams which functions serve. They need the behaviour of the API: the cache key of streams lacks their parameters. */
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
