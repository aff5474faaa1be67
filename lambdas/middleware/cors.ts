import { problems } from '../../core/api/index.ts';
import { ACCESS_HEADER, ACCESS_VARY, corsHeaders, mergeVary, preflightHeaders } from '../../core/http/index.ts';
import { type Event, type HttpMiddleware, headerOf, type Result } from './event.ts';

export interface CorsOptions {
  /** Methods that the path supports besides OPTIONS. None: the path is unknown, whatever the method. */
  readonly methods: readonly string[];
  /** Origins whose pages may read the responses, or `*`. */
  readonly origins: readonly string[];
}

/** Answers preflights, rejects other methods, and sets the headers that every response carries. Attach it first. */
export const cors = ({ methods, origins }: CorsOptions): HttpMiddleware => {
  const finish = (request: { event: Event; response: Result | null | undefined }) => {
    const { response, event } = request;
    if (!response) return;
    const cors = corsHeaders(headerOf(event, 'origin'), origins);
    const accessVary = headerOf(event, ACCESS_HEADER) && ACCESS_VARY;
    const vary = mergeVary(response.headers?.vary?.toString(), cors.vary, accessVary);
    response.headers = {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...response.headers,
      ...cors,
      ...(vary && { vary }),
    };
    if (event.requestContext.http.method === 'HEAD') removeBody(response);
  };
  return {
    before: ({ event }) => {
      const { method } = event.requestContext.http;
      if (methods.length === 0 || methods.includes(method)) return undefined;
      const allowed = methods.join(', ');
      if (method !== 'OPTIONS') throw problems.methodNotAllowed(`${allowed}, OPTIONS`);
      return {
        statusCode: 204,
        headers: { ...preflightHeaders(headerOf(event, 'origin'), origins, allowed, headerOf(event, ACCESS_HEADER)) },
      };
    },
    after: finish,
    onError: finish,
  };
};

/** The headers of a GET without its body (RFC 9110 §9.3.2). */
function removeBody(response: Result): void {
  response.headers = { ...response.headers, 'content-length': String(Buffer.byteLength(response.body ?? '')) };
  delete response.body;
}
