import type { FastifyInstance } from 'fastify';

/** Requested by load balancers and by the container's own health check. */
export const HEALTH_PATH = '/healthz';

/**
 * 200 from the start, also without tools: a task in maintenance serves what it can and recovers by itself.
 * 503 when it is draining.
 */
export function healthRoute(app: FastifyInstance, isDraining: () => boolean): void {
  app.get(HEALTH_PATH, async (_request, reply) => {
    const [code, status] = isDraining() ? [503, 'draining'] : [200, 'ok'];
    return reply.code(code).header('cache-control', 'no-store').send({ status });
  });
}
