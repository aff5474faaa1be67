import middy from '@middy/core';
import type { Log } from '../../core/log/index.ts';
import { type AccessOptions, access } from './cors.ts';
import type { Answer, Event, Result } from './event.ts';
import { answers } from './json-response.ts';
import { fromEdge } from './require-origin-secret.ts';

export type { Answer, Event, Result } from './event.ts';

export interface ChainOptions extends AccessOptions {
  readonly log: Log;
  /** What the edge says of itself, so that nobody is answered past it. @default whoever asks is answered */
  readonly originSecret?: string;
}

/** A function behind an HTTP API: it knows neither where it runs nor how its answer is written. */
export type Handler = (event: Event, context: never) => Promise<Result>;

/** The chain that every function shares, around its one call. */
export function chain(
  { log, originSecret, ...options }: ChainOptions,
  answer: (event: Event) => Promise<Answer>,
): Handler {
  const handler = middy<Event, Result>()
    // Before all else: a preflight is an answer too.
    .use(originSecret ? [fromEdge(originSecret)] : [])
    .use(access(options))
    .use(answers(log))
    // What the function gives becomes a Result in `answers`.
    .handler(answer as (event: Event) => Promise<Result>);
  return (event, context) => handler(event, context ?? ({} as never));
}
