import { type FunctionOperationId, operationsById, problems } from '../../core/api/index.ts';
import { type Answer, createHandler, type Event, type Handler, type HandlerOptions } from './create-handler.ts';

/** Handlers of one function, by who invokes it. Every direct event has a `kind`, which no HTTP event has. */
interface EventRoutes<Direct extends { readonly kind: string }, HttpResult, DirectResult> {
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

/** Answers 404 ProblemDetails to every request without a route. Clients use it to detect missing newer endpoints. */
export const createNotFound = (options: HandlerOptions): Handler =>
  createHandler({ ...options, methods: [] }, async () => {
    throw problems.notFound();
  });

/**
 * Dispatches requests by path, in any case, for operations that share a function.
 * @param fallback answers every other path. @default 404
 */
export function routeOperations(
  answers: Readonly<Partial<Record<FunctionOperationId, Answer>>>,
  options: HandlerOptions,
  fallback = createNotFound(options),
): Handler {
  const byPath = new Map(
    Object.entries(answers).map(([id, answer]): [string, Handler] => {
      const { path, methods } = operationsById[id as FunctionOperationId];
      return [path.toLowerCase(), createHandler({ ...options, methods }, answer)];
    }),
  );
  return (event, context) => (byPath.get(event.rawPath.toLowerCase()) ?? fallback)(event, context);
}
