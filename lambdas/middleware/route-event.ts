import type { Event } from './event.ts';

/** Handlers of one function, by who invokes it. Every direct event has a `kind`, which no HTTP event has. */
export interface EventRoutes<Direct extends { readonly kind: string }, HttpResult, DirectResult> {
  /** API Gateway and function URLs. */
  readonly http: (event: Event, context: never) => Promise<HttpResult>;
  /** Other functions, through the Invoke API. */
  readonly direct: (event: Direct, context: never) => Promise<DirectResult>;
}

/**
 * Dispatches each event of a function to the handler for its kind. For a function that is invoked in two ways and whose
 * second handler would otherwise be a second function with its own cold starts.
 */
export const routeEvent =
  <Direct extends { readonly kind: string }, HttpResult, DirectResult>({
    http,
    direct,
  }: EventRoutes<Direct, HttpResult, DirectResult>) =>
  async (event: Event | Direct, context: never): Promise<HttpResult | DirectResult> =>
    'kind' in event ? direct(event, context) : http(event, context);
