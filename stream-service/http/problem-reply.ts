import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Problem, problems, renderProblem, toStreamProblem } from '../../core/api/index.ts';
import { mergeVary } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';

/** What a request asks for, in the log of its failure. */
const subjects = new WeakMap<FastifyRequest, { readonly site: string; readonly format: string | undefined }>();

/** Names the site and the format of a request in the log of its failure. */
export function nameSubject(request: FastifyRequest, url = '', format?: string): void {
  const site = URL.parse(url)?.hostname;
  if (site) subjects.set(request, { site, format });
}

/** Answers a failure with its Problem, and logs those that concern the operator. */
type ReplyProblem = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void;

/** The one place of this host where failures become responses. */
export function createReplyProblem(log: Log): ReplyProblem {
  return (error, request, reply) => {
    const problem = fromFramework(error) ?? toStreamProblem(error);
    logProblem(log, problem, request);
    const { headers, body } = renderProblem(problem.details, { accept: request.headers.accept, target: request.url });
    reply
      .code(problem.details.status)
      .headers({ 'cache-control': 'no-store', ...problem.headers })
      .headers({ ...headers, vary: mergeVary(reply.getHeader('vary')?.toString(), headers.vary) })
      .send(body);
  };
}

/** Requests that Fastify itself rejects are for paths or bodies that do not exist here: never its own body. */
function fromFramework(error: unknown): Problem | undefined {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  return typeof status === 'number' && status < 500 ? problems.notFound(error) : undefined;
}

function logProblem(log: Log, { details, cause }: Problem, request: FastifyRequest): void {
  const { method, routeOptions, raw } = request;
  if (details.status < 500 || details.status === 503 || raw.destroyed) return;
  const fields = { status: details.status, method, route: routeOptions.url, ...subjects.get(request), error: cause };
  if (details.status === 502) log.warn('Opening a stream failed', fields);
  else log.error('Request failed', fields);
}
