import type { MiddlewareObj } from '@middy/core';
import { type Log, renderJson, toProblem } from '../../layers/contract/index.ts';
import { type Event, headerOf, isJson, type Result } from './event.ts';

/** Writes JSON in the type that Accept prefers, and what was thrown as ProblemDetails. What is no Problem is logged. */
export const answers = (log: Log): MiddlewareObj<Event, Result> => ({
  after: (request) => {
    const answer: unknown = request.response;
    if (!isJson(answer)) return;
    const { headers, body } = renderJson(answer.json, headerOf(request.event, 'accept'));
    request.response = { statusCode: answer.statusCode ?? 200, headers: { ...answer.headers, ...headers }, body };
  },
  onError: (request) => {
    const problem = toProblem(request.error);
    const { status } = problem.details;
    if (status >= 500 && problem.cause !== undefined) log.error('Failed', { status, cause: describe(problem.cause) });
    const { headers, body } = renderJson(problem.details, headerOf(request.event, 'accept'));
    request.response = { statusCode: status, headers: { ...problem.headers, ...headers }, body };
  },
});

const describe = (cause: unknown): string => (cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
