import type { FastifyInstance } from 'fastify';
import { problems } from '../../core/api/index.ts';
import { createOriginSecretCheck, ORIGIN_SECRET_HEADER } from '../../core/http/index.ts';

/** Responds 404 to requests that do not come through the edge, except for `openPaths`: 403 would reveal the service. */
export function requireOriginSecret(app: FastifyInstance, secret: string, openPaths: readonly string[]): void {
  const isFromEdge = createOriginSecretCheck(secret);
  app.addHook('onRequest', async ({ headers, url }) => {
    if (openPaths.includes(url) || isFromEdge(headers[ORIGIN_SECRET_HEADER]?.toString())) return;
    throw problems.notFound();
  });
}
