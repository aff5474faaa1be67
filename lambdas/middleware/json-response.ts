import type { MiddlewareObj } from '@middy/core';
import { type Problem, toProblem } from '../../core/api/index.ts';
import { renderJson } from '../../core/http/index.ts';
import { describeError, type Log } from '../../core/log/index.ts';
import { type Event, headerOf, isJson, type Result } from './event.ts';

/** Writes JSON in the type that Accept prefers, and what was thrown as ProblemDetails. What went wrong is logged. */
export const jsonResponse = (log: Log): MiddlewareObj<Event, Result> => ({
  after: (request) => {
    const answer: unknown = request.response;
    if (!isJson(answer)) return;
    const { headers, body } = renderJson(answer.json, headerOf(request.event, 'accept'));
    request.response = { statusCode: answer.statusCode ?? 200, headers: { ...answer.headers, ...headers }, body };
  },
  onError: (request) => {
    const problem = toProblem(request.error);
    report(log, problem, request.event);
    const { headers, body } = renderJson(problem.details, headerOf(request.event, 'accept'));
    request.response = { statusCode: problem.details.status, headers: { ...problem.headers, ...headers }, body };
  },
});

/** A source that fails is worth a line; an error that nobody foresaw, all there is to know. */
function report(log: Log, { details: { status }, cause }: Problem, { requestContext: { requestId } }: Event): void {
  if (cause === undefined || status < 500) return;
  if (status === 500) log.error('A function failed', { requestId, error: describeError(cause, true) });
  else log.warn('A request could not be answered', { requestId, status, error: describeError(cause) });
}
