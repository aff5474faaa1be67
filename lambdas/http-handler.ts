import type { MiddlewareObj } from '@middy/core';
import middy from '@middy/core';
import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import {
  type FunctionOperationId,
  operationsById,
  type Problem,
  problems,
  renderProblem,
  toProblem,
} from '../core/api/index.ts';
import {
  ACCESS_HEADER,
  ACCESS_VARY,
  corsHeaders,
  isCrossSiteSubrequest,
  limitedBy,
  mergeVary,
  ORIGIN_SECRET_HEADER,
  type OriginSecretCheck,
  preflightHeaders,
  readClient,
  renderJson,
  type SignKey,
  signerFor,
} from '../core/http/index.ts';
import { describeError, type Log } from '../core/log/index.ts';

export interface HandlerOptions extends Pick<CorsOptions, 'origins'> {
  readonly log: Log;
  /** Requests that are not from the edge are answered 404. @default no check */
  readonly isFromEdge?: OriginSecretCheck;
  /** Middleware outside the shared chain, outermost first: its `after` receives the complete response. */
  readonly middleware?: readonly HttpMiddleware[];
}

/** A function behind an HTTP API, independent of the host. */
export type Handler = (event: Event, context: never) => Promise<Result>;

/** Answers the requests of an operation, without what all operations share. */
export type OperationHandler = (event: Event, context: InvocationContext) => Promise<JsonAnswer>;

/** Wraps the answer of an operation in the middleware that every HTTP function shares. */
export function createHandler(
  { log, isFromEdge, middleware = [], ...options }: HandlerOptions & CorsOptions,
  answer: OperationHandler,
): Handler {
  return (
    middy<Event, Result>()
      .use([...middleware])
      // Before CORS: a preflight is an answer too.
      .use(isFromEdge ? [requireOriginSecret(isFromEdge)] : [])
      .use(cors(options))
      .use(jsonResponse(log))
      // jsonResponse turns what the handler returns into a Result.
      .handler(answer as (event: Event, context: object) => Promise<Result>)
  );
}

/**
 * Serializes JSON in the type that Accept prefers, and whatever is thrown as ProblemDetails (RFC 9457) or its page. The one place
 * where a failure of a Lambda function becomes a response. Server errors are logged.
 */
const jsonResponse = (log: Log): HttpMiddleware => ({
  after: (request) => {
    const answer: unknown = request.response;
    if (!isJson(answer)) return;
    const { headers, body } = renderJson(answer.json, headerOf(request.event, 'accept'));
    request.response = { statusCode: answer.statusCode ?? 200, headers: { ...answer.headers, ...headers }, body };
  },
  onError: (request) => {
    const problem = toProblem(request.error);
    report(log, problem, { requestId: request.event.requestContext.requestId });
    const { rawPath, rawQueryString } = request.event;
    const target = `${rawPath}?${rawQueryString}`;
    const { headers, body } = renderProblem(problem.details, { accept: headerOf(request.event, 'accept'), target });
    request.response = { statusCode: problem.details.status, headers: { ...problem.headers, ...headers }, body };
  },
});

/** Logs an unexpected error with its stack, and any other server error in one line. */
export function report(
  log: Log,
  { details: { status }, cause }: Problem,
  fields: Readonly<Record<string, string>>,
): void {
  if (cause === undefined || status < 500) return;
  if (status === 500) log.error('Unhandled error', { ...fields, error: cause });
  else log.warn('Request failed', { ...fields, status, error: describeError(cause) });
}

/** Answers 404 to requests that did not come through the edge, so that they learn nothing. Attach it before CORS. */
const requireOriginSecret = (isFromEdge: OriginSecretCheck): HttpMiddleware => ({
  before: async ({ event }) => {
    if (!(await isFromEdge(headerOf(event, ORIGIN_SECRET_HEADER)))) throw problems.notFound();
  },
});

/** @throws Problem 403 where a page of another site sends the request by itself */
export function refuseCrossSite(event: Event, { origins }: Pick<HandlerOptions, 'origins'>): void {
  if (isCrossSiteSubrequest((name) => headerOf(event, name), origins)) throw problems.crossSite();
}

interface CorsOptions {
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
        headers: {
          ...preflightHeaders({
            origin: headerOf(event, 'origin'),
            allowed: origins,
            methods: allowed,
            accessHeader: headerOf(event, ACCESS_HEADER),
          }),
        },
      };
    },
    after: finish,
    onError: finish,
  };
};

/** The headers of a GET without its body (RFC 9110 §9.3.2). */
function removeBody(response: Result): void {
  // A 304 has no body of its own, and that of the 200 is not known here (RFC 9110 §8.6).
  if (response.statusCode !== 304)
    response.headers = { ...response.headers, 'content-length': String(Buffer.byteLength(response.body ?? '')) };
  delete response.body;
}

/** A request of an HTTP API (payload format 2.0), as far as handlers read it. */
export interface Event {
  readonly rawPath: string;
  readonly rawQueryString: string;
  /** By names in lower case. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Read by operations that take one. */
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly requestContext: {
    readonly requestId: string;
    /** When the request arrived, in epoch milliseconds. */
    readonly timeEpoch: number;
    readonly http: { readonly method: string; readonly sourceIp: string };
    /** The path below which the client sees the service. Never in AWS. */
    readonly basePath?: string;
  };
}
export type Result = Pick<APIGatewayProxyStructuredResultV2, 'statusCode' | 'headers' | 'body'>;

/** What a host passes besides the event. Lambda passes more, which no handler reads. */
export interface InvocationContext {
  /** Aborted when the client disconnects. Lambda does not report that. */
  readonly signal?: AbortSignal;
}

/** Middy middleware around an HTTP handler. */
export type HttpMiddleware = MiddlewareObj<Event, Result>;

/** What an HTTP handler returns: JSON, serialized in the type that the client prefers, or a complete result. */
type JsonAnswer = JsonValue | Result;

interface JsonValue {
  readonly json: unknown;
  /** @default 200 */
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const isJson = (answer: unknown): answer is JsonValue =>
  typeof answer === 'object' && answer !== null && 'json' in answer;

/** How to sign the keys of the response to a request. */
export const signKeyFor = (event: Event): SignKey => signerFor(headerOf(event, ACCESS_HEADER));

/**
 * What the limits of a request count: its client, or its access key where the instance is private. Behind the edge, `sourceIp` is
 * an address of CloudFront, which the API appends to X-Forwarded-For after the viewer's address that CloudFront appended.
 */
export function clientOfEvent(event: Event, isBehindEdge: boolean): string {
  const { sourceIp: remoteAddress } = event.requestContext.http;
  const forwardedFor = headerOf(event, 'x-forwarded-for');
  const proxies = forwardedFor?.split(',').at(-1)?.trim() === remoteAddress ? 2 : 1;
  const client = readClient({ remoteAddress, forwardedFor, trustedProxies: isBehindEdge ? proxies : 0 });
  return limitedBy(client, headerOf(event, ACCESS_HEADER));
}

/** A header of an event; API Gateway sends header names in lower case. */
export const headerOf = (event: Event, name: string): string | undefined => event.headers?.[name];

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
  answers: Readonly<Partial<Record<FunctionOperationId, OperationHandler>>>,
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
