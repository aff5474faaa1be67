import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { clientAddress } from '../../core/http/index.ts';

/** Maximum integration timeout of HTTP APIs. */
const INTEGRATION_TIMEOUT_MS = 30_000;

/**
 * A request as an HTTP API passes it to a Lambda function: payload format 2.0. Without body: every operation is a GET.
 * @param routeKey `ANY /api/App`, or `$default`
 * @param trustedProxies proxies in front whose entry in X-Forwarded-For is trusted
 */
export function toHttpApiEvent(request: IncomingMessage, routeKey: string, trustedProxies = 0): APIGatewayProxyEventV2 {
  const { method = 'GET', url = '/', httpVersion, socket } = request;
  const queryAt = url.indexOf('?');
  const rawPath = queryAt < 0 ? url : url.slice(0, queryAt);
  const rawQueryString = queryAt < 0 ? '' : url.slice(queryAt + 1);
  const { cookie, ...headers } = joinHeaders(request);
  const queryStringParameters = joinQuery(rawQueryString);
  const { remoteAddress } = socket;
  const time = new Date();

  return {
    version: '2.0',
    routeKey,
    rawPath,
    rawQueryString,
    ...(cookie && { cookies: cookie.split(/;\s*/) }),
    headers,
    ...(queryStringParameters && { queryStringParameters }),
    requestContext: {
      accountId: 'anonymous',
      apiId: 'local',
      domainName: headers.host ?? 'localhost',
      domainPrefix: 'localhost',
      http: {
        method,
        path: rawPath,
        protocol: `HTTP/${httpVersion}`,
        sourceIp: clientAddress({ remoteAddress, forwardedFor: headers['x-forwarded-for'], trustedProxies }) ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey,
      stage: '$default',
      time: commonLogTime(time),
      timeEpoch: time.getTime(),
    },
    isBase64Encoded: false,
  };
}

/** The context of an invocation: its ids, remaining time, and the signal that is aborted when the client disconnects. */
export function toContext(
  { requestContext: { requestId, routeKey, timeEpoch } }: APIGatewayProxyEventV2,
  signal: AbortSignal,
): Context & { readonly signal: AbortSignal } {
  return {
    signal,
    awsRequestId: requestId,
    functionName: routeKey,
    functionVersion: '$LATEST',
    invokedFunctionArn: routeKey,
    memoryLimitInMB: '0',
    logGroupName: '',
    logStreamName: '',
    callbackWaitsForEmptyEventLoop: false,
    getRemainingTimeInMillis: () => timeEpoch + INTEGRATION_TIMEOUT_MS - Date.now(),
    // Callbacks of the Node 0.10 runtime; every handler here returns a promise.
    done: () => undefined,
    fail: () => undefined,
    succeed: () => undefined,
  };
}

/** Lower-case names; repeated fields joined by commas. */
const joinHeaders = ({ headersDistinct }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(name === 'cookie' ? '; ' : ',')]),
  );

/** Decoded; repeated names joined by commas, as payload format 2.0 does. Undefined without any. */
function joinQuery(rawQueryString: string): Record<string, string> | undefined {
  if (rawQueryString === '') return undefined;
  const joined = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    const previous = joined.get(name);
    joined.set(name, previous === undefined ? value : `${previous},${value}`);
  }
  return Object.fromEntries(joined);
}

/** `21/Nov/2026:07:11:02 +0000` */
function commonLogTime(time: Date): string {
  const [, day, month, year, clock] = time.toUTCString().split(/[ ,]+/);
  return `${day}/${month}/${year}:${clock} +0000`;
}
