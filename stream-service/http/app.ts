import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { problems } from '../../core/api/index.ts';
import { ACCESS_VARY, accessHeaderOf, corsHeaders, mergeVary, preflightHeaders } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createReplyProblem, MAX_HEADER_BYTES, respondToClientError } from './problem-reply.ts';
import { MAX_KEY_LENGTH, methodsOfPath, type StreamRoutesDependencies, streamRoutes } from './stream-routes.ts';

export interface AppOptions extends StreamRoutesDependencies {
  /** Origins whose pages may read responses, or `*`. */
  readonly corsAllowedOrigins: readonly string[];
  /** Proxies in front whose X-Forwarded-For is trusted. */
  readonly trustedProxies: number;
  /** Adds the host's own routes and hooks, which run before those of the streams. */
  readonly extend?: (app: FastifyInstance) => void;
  readonly log: Log;
}

/** The HTTP server of the stream service: routing, CORS, and a Problem for every failure. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { corsAllowedOrigins, trustedProxies, log } = options;
  const replyProblem = createReplyProblem(log);
  const setCommonHeaders = (request: FastifyRequest, reply: FastifyReply) => {
    const cors = corsHeaders(request.headers.origin, corsAllowedOrigins);
    const vary = mergeVary(cors.vary, accessHeaderOf(request) && ACCESS_VARY);
    reply.headers({ 'x-content-type-options': 'nosniff', ...cors, ...(vary && { vary }) });
  };

  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Admission refuses new streams while draining, with a Problem as the body.
    return503OnClosing: false,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    clientErrorHandler: respondToClientError,
    trustProxy: (_address, hop) => hop < trustedProxies,
    routerOptions: { caseSensitive: false, maxParamLength: MAX_KEY_LENGTH },
    // Called for a path that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply);
      replyProblem(problems.notFound(error), request, reply);
    },
  });

  app.addHook('onRequest', async (request, reply) => {
    setCommonHeaders(request, reply);
  });
  options.extend?.(app);
  // This hook runs before a body is parsed.
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    const [path = ''] = request.url.split('?', 1);
    const methods = methodsOfPath(path);
    if (!methods) throw problems.notFound();
    if (request.method !== 'OPTIONS') throw problems.methodNotAllowed(`${methods}, OPTIONS`);
    return reply
      .code(204)
      .headers(preflightHeaders(request.headers.origin, corsAllowedOrigins, methods, accessHeaderOf(request)))
      .send();
  });
  app.setNotFoundHandler((request, reply) => replyProblem(problems.notFound(), request, reply));
  app.setErrorHandler((error, request, reply) => replyProblem(error, request, reply));

  streamRoutes(app, options);
  return app;
}
