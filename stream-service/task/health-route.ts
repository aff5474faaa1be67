import type { FastifyInstance } from 'fastify';

/** Where load balancers and the container's own check ask. */
export const HEALTH_PATH = '/healthz';

/**
 * 200 from the first moment, without tools too: a task in maintenance answers as much as it can and mends itself.
 * 503 once it takes no more streams.
 */
export function healthRoute(app: FastifyInstance, isDraining: () => boolean): void {
  app.get(HEALTH_PATH, async (_request, reply) => {
    const [code, status] = isDraining() ? [503, 'draining'] : [200, 'ok'];
    return reply.code(code).header('cache-control', 'no-store').send({ status });
  });
}
