import { type FunctionOperationId, getOperation } from '../../core/api/index.ts';
import type { Handler } from './create-handler.ts';

/**
 * Dispatches requests by path, for operations that share a function and so its warm worker.
 * @throws Error for a path that the API does not route to this function
 */
export function routeOperation(handlers: Readonly<Partial<Record<FunctionOperationId, Handler>>>): Handler {
  const byPath = new Map(
    Object.entries(handlers).map(([id, handler]) => [
      getOperation(id as FunctionOperationId).path.toLowerCase(),
      handler,
    ]),
  );
  return async (event, context) => {
    const handler = byPath.get(event.rawPath.toLowerCase());
    if (!handler) throw new Error(`No operation at ${event.rawPath}`);
    return handler(event, context);
  };
}
