import { problems } from '../../core/api/index.ts';
import { createOriginSecretCheck, ORIGIN_SECRET_HEADER } from '../../core/http/index.ts';
import { type HttpMiddleware, headerOf } from './event.ts';

/** Answers 404 to requests that did not come through the edge, so that they learn nothing. Attach it before CORS. */
export function requireOriginSecret(secret: string): HttpMiddleware {
  const isFromEdge = createOriginSecretCheck(secret);
  return {
    before: ({ event }) => {
      if (!isFromEdge(headerOf(event, ORIGIN_SECRET_HEADER))) throw problems.notFound();
    },
  };
}
