import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Problem, problems, toProblem } from '../../core/api/index.ts';
import { mergeVary, renderJson } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';

/** Answers a failure, and logs the ones the operator should know of. */
export type ReplyProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

export function createReplyProblem(log: Log): ReplyProblem {
  return (error, request, reply) => {
    const problem = fromFramework(error) ?? toProblem(error);
    report(log, problem, request);
    const { headers, body } = renderJson(problem.details, request.headers.accept);
    reply
      .code(problem.details.status)
      // What a stream would have said of itself does not hold for its failure.
      .removeHeader('content-disposition')
      .removeHeader('estimated-content-length')
      .removeHeader('accept-ranges')
      .headers({ 'cache-control': 'no-store', ...problem.headers })
      .headers({ ...headers, vary: mergeVary(reply.getHeader('vary')?.toString(), headers.vary) })
      .send(body);
  };
}

/** What the framework finds wrong with a request never gets its own body: there is nothing at such a path. */
function fromFramework(error: unknown): Problem | undefined {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status < 500 ? problems.notFound(error) : undefined;
}

function report(log: Log, { details, cause }: Problem, { method, routeOptions, raw }: FastifyRequest): void {
  if (details.status < 500 || details.status === 503 || raw.destroyed) return;
  const fields = { status: details.status, method, route: routeOptions.url, error: cause };
  if (details.status === 502) log.warn('A stream could not be opened', fields);
  else log.error('A request failed', fields);
}
