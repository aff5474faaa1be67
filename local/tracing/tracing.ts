import type { IncomingMessage, ServerResponse } from 'node:http';

/** Traces of requests. */
export interface Tracing {
  /** Handles a request in a span of its own, below the one that its `traceparent` names (W3C Trace Context). */
  serve(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
}

/** Records nothing. */
export const noTracing: Tracing = { serve: (_request, _response, handle) => handle() };
