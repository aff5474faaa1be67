import type { IncomingMessage, ServerResponse } from 'node:http';
import { operationsById, type Problem, problems, routes } from '../../core/api/index.ts';
import type { Settings } from '../../core/config/index.ts';
import {
  ACCESS_HEADER,
  ACCESS_PARAMETER,
  ACCESS_VARY,
  corsHeaders,
  createAccessControl,
  createKeyGuesses,
  hashOfKey,
  mergeVary,
  NO_ACCESS_KEY,
} from '../../core/http/index.ts';
import { answerProblem, clientOfRequest, setHeader } from './exchange.ts';

interface AccessOptions extends Pick<Settings, 'corsAllowedOrigins' | 'trustedProxies'> {
  /** SHA-256 of each access key. None: the instance is open. */
  readonly hashes: readonly string[];
  /** Whether a request is for the page. */
  readonly isForPage: (request: IncomingMessage) => boolean;
}

/**
 * Admits a request to a private instance: by the key that it carries, or by the signature in its path, which is removed. Sets
 * `ACCESS_HEADER` for the parts behind it. The edge function does the same in AWS (`viewer-request.js`).
 * @returns false when the response has been sent
 */
type RequireAccess = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Before and behind the key of a stream path. */
const STREAM_PATHS = routes
  .filter(({ servedBy, path }) => servedBy === 'stream-service' && path.includes('{key}'))
  .map(({ path }) => new RegExp(`^(${path.replaceAll('.', '\\.').replace(/\{key\}.*/, '')})([^/?]+)(.*)$`, 'i'));
const SIGNED_PATHS = (['Get', 'Feed'] as const).map((id) => operationsById[id].path.toLowerCase());
const PUBLIC_PATH = operationsById.GetAppInfo.path.toLowerCase();

export function createRequireAccess(options: AccessOptions): RequireAccess {
  const { hashes, corsAllowedOrigins, trustedProxies, isForPage } = options;
  const access = createAccessControl(hashes);
  const guesses = createKeyGuesses();

  /** The hash that admits a request, or the Problem that refuses it. */
  const admit = (request: IncomingMessage): string | Problem => {
    const { authorization, 'x-api-key': apiKey, cookie } = request.headers;
    const credentials = { authorization, apiKey: apiKey?.toString(), cookie };
    const client = clientOfRequest(request, trustedProxies);
    const sent = hashOfKey(credentials);
    const waitSeconds = sent === undefined ? 0 : guesses.waitSeconds(client, sent);
    // Beyond the limit a key is not even compared: the response must not tell whether it is right.
    const identified = waitSeconds > 0 ? undefined : access.identify(credentials);
    const link = matchStream(request.url ?? '');
    const signed = link ? access.verify(link.key) : verifyParameter(request.url ?? '');
    // A valid key admits to a link whatever its signature, and a preflight reads nothing.
    if (link && signed && (identified !== undefined || 'hash' in signed || request.method === 'OPTIONS'))
      request.url = link.before + (link.key.split('.', 1)[0] ?? '') + link.behind;
    // Neither counts nor is remembered: the response is the same for all keys.
    if (isPublic(request)) return identified ?? NO_ACCESS_KEY;
    if (identified !== undefined) {
      guesses.accept(client, identified);
      return identified;
    }
    if (sent !== undefined && waitSeconds === 0) guesses.reject(client, sent);
    if (signed && 'hash' in signed) return signed.hash;
    if (waitSeconds > 0) return problems.tooManyRequests(waitSeconds);
    if (!signed) return problems.unauthorized(apiKey !== undefined || /^bearer\b/i.test(authorization ?? ''));
    return problems.linkRefused(signed.refused);
  };

  /** A feed contains signed URLs of Get and Feed. */
  const verifyParameter = (url: string) => {
    const [path = '', query = ''] = url.split(/\?(.*)/s, 2);
    if (!SIGNED_PATHS.includes(path.toLowerCase())) return undefined;
    const parameters = new URLSearchParams(query);
    const parameter = parameters.get(ACCESS_PARAMETER);
    return parameter ? access.verifyLink(parameters.get('url') ?? '', parameter) : undefined;
  };

  /** A preflight carries no credentials (Fetch standard, CORS protocol). */
  const isPublic = (request: IncomingMessage) => {
    const [path = ''] = (request.url ?? '').toLowerCase().split('?', 1);
    return request.method === 'OPTIONS' || path === PUBLIC_PATH || isForPage(request);
  };

  return (request, response) => {
    setHeader(request, ACCESS_HEADER, undefined);
    if (hashes.length === 0) return true;
    const admitted = admit(request);
    if (typeof admitted === 'string') {
      // Nothing behind the front needs the key itself.
      for (const name of ['authorization', 'x-api-key', 'cookie']) setHeader(request, name, undefined);
      setHeader(request, ACCESS_HEADER, admitted);
      return true;
    }
    const cors = corsHeaders(request.headers.origin, corsAllowedOrigins);
    answerProblem({ request, response }, admitted, { ...cors, vary: mergeVary(cors.vary, ACCESS_VARY) });
    return false;
  };
}

interface StreamPath {
  readonly before: string;
  readonly key: string;
  readonly behind: string;
}

function matchStream(url: string): StreamPath | undefined {
  for (const pattern of STREAM_PATHS) {
    const [, before, key, behind = ''] = pattern.exec(url) ?? [];
    if (before !== undefined && key !== undefined) return { before, key, behind };
  }
  return undefined;
}
