import type { MiddlewareObj } from '@middy/core';
import { problems } from '../../core/api/index.ts';
import { createOriginCheck, ORIGIN_HEADER } from '../../core/http/index.ts';
import { type Event, headerOf, type Result } from './event.ts';

/** Answers 404 to whoever does not come through the edge: tell nothing. Attach it first. */
export function fromEdge(secret: string): MiddlewareObj<Event, Result> {
  const comesFromEdge = createOriginCheck(secret);
  return {
    before: ({ event }) => {
      if (!comesFromEdge(headerOf(event, ORIGIN_HEADER))) throw problems.notFound();
    },
  };
}
