import middy from '@middy/core';
import type { Log } from '../../core/log/index.ts';
import { type CorsOptions, cors } from './cors.ts';
import type { Event, JsonAnswer, Result } from './event.ts';
import { jsonResponse } from './json-response.ts';
import { requireOriginSecret } from './require-origin-secret.ts';

export type { Event, JsonAnswer, Result } from './event.ts';

export interface HandlerOptions extends CorsOptions {
  readonly log: Log;
  /** What the edge says of itself, so that nobody is answered past it. @default whoever asks is answered */
  readonly originSecret?: string;
}

/** A function behind an HTTP API: it knows neither where it runs nor how its answer is written. */
export type Handler = (event: Event, context: never) => Promise<Result>;

/** The chain that every function shares, around its one call. */
export function createHandler(
  { log, originSecret, ...options }: HandlerOptions,
  answer: (event: Event) => Promise<JsonAnswer>,
): Handler {
  const handler = middy<Event, Result>()
    // Before all else: a preflight is an answer too.
    .use(originSecret ? [requireOriginSecret(originSecret)] : [])
    .use(cors(options))
    .use(jsonResponse(log))
    // What the function gives becomes a Result in `answers`.
    .handler(answer as (event: Event) => Promise<Result>);
  return (event, context) => handler(event, context ?? ({} as never));
}
