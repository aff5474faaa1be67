import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { problems } from '../../layers/contract/index.ts';

/** What the edge adds to each request that it passes on. */
export const ORIGIN_HEADER = 'x-reelay-origin';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Answers 404 to whoever does not come through the edge, paths in `open` aside: tell nothing. */
export function requireOriginSecret(app: FastifyInstance, secret: string, open: readonly string[]): void {
  const expected = digest(secret);
  app.addHook('onRequest', async ({ headers, url }) => {
    if (open.includes(url)) return;
    // Digests: of equal length whatever was sent, and compared in constant time.
    if (!timingSafeEqual(digest(String(headers[ORIGIN_HEADER] ?? '')), expected)) throw problems.notFound();
  });
}
