import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { ACCESS_HEADER, limitedBy, readClient, type SignKey, signerFor } from '../../core/http/index.ts';

/** HTTP API, payload format 2.0. */
export type Event = APIGatewayProxyEventV2;
export type Result = APIGatewayProxyStructuredResultV2;

/** What a host passes besides the event. Lambda passes more, which no handler reads. */
export interface InvocationContext {
  /** Aborted when the client disconnects. Lambda does not report that. */
  readonly signal?: AbortSignal;
}

/** Middy middleware around an HTTP handler. */
export type HttpMiddleware = MiddlewareObj<Event, Result>;

/** What an HTTP handler returns: JSON, serialized in the type that the client prefers, or a complete result. */
export type JsonAnswer = JsonValue | Result;

export interface JsonValue {
  readonly json: unknown;
  /** @default 200 */
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export const isJson = (answer: unknown): answer is JsonValue =>
  typeof answer === 'object' && answer !== null && 'json' in answer;

/** How to sign the keys of the response to a request. */
export const signKeyFor = (event: Event): SignKey => signerFor(headerOf(event, ACCESS_HEADER));

/** What the limits of a request count: its client, or its access key where the instance is private. */
export const clientOfEvent = (event: Event, isBehindEdge: boolean): string =>
  limitedBy(addressOfEvent(event, isBehindEdge), headerOf(event, ACCESS_HEADER));

/**
 * The client that sent a request, in the form of `clientOf`. Behind the edge, `sourceIp` is an address of CloudFront, which
 * the API appends to X-Forwarded-For after the viewer's address that CloudFront appended.
 */
function addressOfEvent(event: Event, isBehindEdge: boolean): string {
  const { sourceIp } = event.requestContext.http;
  if (!isBehindEdge) return readClient({ remoteAddress: sourceIp, forwardedFor: undefined, trustedProxies: 0 });
  const hops = (headerOf(event, 'x-forwarded-for') ?? '').split(',').map((hop) => hop.trim());
  if (hops.at(-1) === sourceIp) hops.pop();
  return readClient({ remoteAddress: sourceIp, forwardedFor: hops.join(','), trustedProxies: 1 });
}

/** A header of an event; API Gateway sends header names in lower case. */
export const headerOf = (event: Event, name: string): string | undefined => event.headers?.[name];
