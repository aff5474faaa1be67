import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';

/** HTTP API, payload format 2.0. */
export type Event = APIGatewayProxyEventV2;
export type Result = APIGatewayProxyStructuredResultV2;

/** What a function answers before it is written out: JSON in the type that the caller prefers, or a ready result. */
export type JsonAnswer = JsonValue | Result;

export interface JsonValue {
  readonly json: unknown;
  readonly statusCode?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export const isJson = (answer: unknown): answer is JsonValue =>
  typeof answer === 'object' && answer !== null && 'json' in answer;

/** A header of an event; API Gateway writes their names in lower case. */
export const headerOf = (event: Event, name: string): string | undefined => event.headers?.[name];
