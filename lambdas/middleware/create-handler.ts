import middy from '@middy/core';
import type { Problem } from '../../core/api/index.ts';
import type { Log } from '../../core/log/index.ts';
import { type CorsOptions, cors } from './cors.ts';
import type { Event, HttpMiddleware, InvocationContext, JsonAnswer, Result } from './event.ts';
import { jsonResponse } from './json-response.ts';
import { requireOriginSecret } from './require-origin-secret.ts';

export interface HandlerOptions extends CorsOptions {
  readonly log: Log;
  /** Secret that the edge sends with every request; others are answered 404. @default no check */
  readonly originSecret?: string;
  /** Middleware outside the shared chain, outermost first: its `after` receives the complete response. */
  readonly middleware?: readonly HttpMiddleware[];
  /** Translates what the handler throws. @default `toProblem` of core/api */
  readonly toProblem?: (error: unknown) => Problem;
}

/** A function behind an HTTP API. It is independent of the host and of how its answer is serialized. */
export type Handler = (event: Event, context: never) => Promise<Result>;

/** Wraps a handler in the middleware that every HTTP function shares. */
export function createHandler(
  { log, originSecret, middleware = [], toProblem, ...options }: HandlerOptions,
  answer: (event: Event, context: InvocationContext) => Promise<JsonAnswer>,
): Handler {
  const handler = middy<Event, Result>()
    .use([...middleware])
    // Before CORS: a preflight is an answer too.
    .use(originSecret ? [requireOriginSecret(originSecret)] : [])
    .use(cors(options))
    .use(jsonResponse(log, toProblem))
    // jsonResponse turns what the handler returns into a Result.
    .handler(answer as (event: Event, context: object) => Promise<Result>);
  return (event, context) => handler(event, context ?? ({} as never));
}
