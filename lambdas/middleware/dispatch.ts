import { type FunctionOperationId, operationsById } from '../../core/api/index.ts';
import type { Event, Handler } from './create-handler.ts';

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

/**
 * Dispatches requests by path, for operations that share a function and so its warm worker.
 * @throws Error for a path that the API does not route to this function
 */
export function routeOperation(handlers: Readonly<Partial<Record<FunctionOperationId, Handler>>>): Handler {
  const byPath = new Map(
    Object.entries(handlers).map(([id, handler]) => [
      operationsById[id as FunctionOperationId].path.toLowerCase(),
      handler,
    ]),
  );
  return async (event, context) => {
    const handler = byPath.get(event.rawPath.toLowerCase());
    if (!handler) throw new Error(`No operation at ${event.rawPath}`);
    return handler(event, context);
  };
}
