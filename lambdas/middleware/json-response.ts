import { type Problem, toProblem } from '../../core/api/index.ts';
import { renderJson } from '../../core/http/index.ts';
import { describeError, type Log } from '../../core/log/index.ts';
import { type Event, type HttpMiddleware, headerOf, isJson } from './event.ts';

/**
 * Serializes JSON in the type that Accept prefers, and whatever is thrown as ProblemDetails (RFC 9457). The one place
 * where a failure of a Lambda function becomes a response. Server errors are logged.
 */
export const jsonResponse = (log: Log, translate: (error: unknown) => Problem = toProblem): HttpMiddleware => ({
  after: (request) => {
    const answer: unknown = request.response;
    if (!isJson(answer)) return;
    const { headers, body } = renderJson(answer.json, headerOf(request.event, 'accept'));
    request.response = { statusCode: answer.statusCode ?? 200, headers: { ...answer.headers, ...headers }, body };
  },
  onError: (request) => {
    const problem = translate(request.error);
    report(log, problem, request.event);
    const { headers, body } = renderJson(problem.details, headerOf(request.event, 'accept'));
    request.response = { statusCode: problem.details.status, headers: { ...problem.headers, ...headers }, body };
  },
});

/** Logs an unexpected error with its stack, and any other server error in one line. */
function report(log: Log, { details: { status }, cause }: Problem, { requestContext: { requestId } }: Event): void {
  if (cause === undefined || status < 500) return;
  if (status === 500) log.error('Unhandled error', { requestId, error: cause });
  else log.warn('Request failed', { requestId, status, error: describeError(cause) });
}
