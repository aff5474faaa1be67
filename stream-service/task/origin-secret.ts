import type { FastifyInstance } from 'fastify';
import { problems } from '../../core/api/index.ts';
import { createOriginSecretCheck, ORIGIN_SECRET_HEADER } from '../../core/http/index.ts';

/** Answers 404 to whoever does not come through the edge, paths in `open` aside: tell nothing. */
export function requireOriginSecret(app: FastifyInstance, secret: string, open: readonly string[]): void {
  const comesFromEdge = createOriginSecretCheck(secret);
  app.addHook('onRequest', async ({ headers, url }) => {
    if (open.includes(url) || comesFromEdge(headers[ORIGIN_SECRET_HEADER]?.toString())) return;
    throw problems.notFound();
  });
}
