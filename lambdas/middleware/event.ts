import type { MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** HTTP API, payload format 2.0. */
export type Event = APIGatewayProxyEventV2;
export type Result = APIGatewayProxyStructuredResultV2;

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

/** A header of an event; API Gateway sends header names in lower case. */
export const headerOf = (event: Event, name: string): string | undefined => event.headers?.[name];
