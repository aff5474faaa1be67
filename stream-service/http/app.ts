import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { problems } from '../../core/api/index.ts';
import { corsHeaders, preflightHeaders } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { MAX_HEADER_BYTES, respondToClientError } from './client-error.ts';
import { type CombinedRouteDependencies, combinedRoute } from './combined-route.ts';
import { type MediaRouteDependencies, mediaRoute } from './media-route.ts';
import { createReplyProblem } from './problem-reply.ts';
import { MAX_KEY_LENGTH, methodsOfPath } from './stream-routes.ts';

export interface AppOptions extends MediaRouteDependencies, CombinedRouteDependencies {
  /** Origins whose pages may read answers, or `*`. */
  readonly corsAllowedOrigins: readonly string[];
  /** Proxies in front whose X-Forwarded-For is believed. */
  readonly trustedProxies: number;
  /** Adds what its host needs in front of the streams: routes, and hooks that see each request first. */
  readonly extend?: (app: FastifyInstance) => void;
  readonly log: Log;
}

/** The HTTP face of the stream service: routing, CORS, and an answer of ours for whatever goes wrong. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { corsAllowedOrigins, trustedProxies, log } = options;
  const replyProblem = createReplyProblem(log);
  const sayAlways = (request: FastifyRequest, reply: FastifyReply) =>
    reply.headers({ 'x-content-type-options': 'nosniff', ...corsHeaders(request.headers.origin, corsAllowedOrigins) });

  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Ours says the same in our words: nobody gets a place any more.
    return503OnClosing: false,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    clientErrorHandler: respondToClientError,
    trustProxy: (_address, hop) => hop < trustedProxies,
    routerOptions: { caseSensitive: false, maxParamLength: MAX_KEY_LENGTH },
    // A path that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      sayAlways(request, reply);
      replyProblem(problems.notFound(error), request, reply);
    },
  });

  app.addHook('onRequest', async (request, reply) => {
    sayAlways(request, reply);
  });
  options.extend?.(app);
  // Before any body is looked at.
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    const [path = ''] = request.url.split('?', 1);
    const methods = methodsOfPath(path);
    if (!methods) throw problems.notFound();
    if (request.method !== 'OPTIONS') throw problems.methodNotAllowed(`${methods}, OPTIONS`);
    return reply
      .code(204)
      .headers(preflightHeaders(request.headers.origin, corsAllowedOrigins, methods))
      .send();
  });
  app.setNotFoundHandler((request, reply) => replyProblem(problems.notFound(), request, reply));
  app.setErrorHandler((error, request, reply) => replyProblem(error, request, reply));

  mediaRoute(app, options);
  combinedRoute(app, options);
  return app;
}
