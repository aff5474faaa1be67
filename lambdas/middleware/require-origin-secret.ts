import type { MiddlewareObj } from '@middy/core';
import { problems } from '../../core/api/index.ts';
import { createOriginSecretCheck, ORIGIN_SECRET_HEADER } from '../../core/http/index.ts';
import { type Event, headerOf, type Result } from './event.ts';

/** Answers 404 to whoever does not come through the edge: tell nothing. Attach it first. */
export function requireOriginSecret(secret: string): MiddlewareObj<Event, Result> {
  const comesFromEdge = createOriginSecretCheck(secret);
  return {
    before: ({ event }) => {
      if (!comesFromEdge(headerOf(event, ORIGIN_SECRET_HEADER))) throw problems.notFound();
    },
  };
}
