import { MAX_BODY_BYTES, problems, sayProblem, toProblem } from '../../core/api/index.ts';
import { isForeignPage } from '../../core/http/index.ts';
import { type HandlerOptions, headerOf, type OperationHandler, report } from '../http-handler.ts';
import { createGetTranscript, fetchMedia, type GetTranscriptOptions, searchMedia, type Tool } from './mcp-tools.ts';
import { type PublicBaseUrlOptions, publicBaseUrl } from './public-base-url.ts';
import type { ResolveDependencies } from './resolve-request.ts';

export interface McpOptions
  extends ResolveDependencies,
    GetTranscriptOptions,
    PublicBaseUrlOptions,
    Pick<HandlerOptions, 'log' | 'origins'> {
  /** The version of the service. */
  readonly version: string;
  /** Whether pages of search results are resolved. @default false */
  readonly search?: boolean;
}

/** POST /mcp: the Model Context Protocol by streamable HTTP without sessions, with tools that read. */
export const createMcp = (options: McpOptions): OperationHandler => {
  const { resolveRequest, search, origins, version, log } = options;
  const tools: readonly Tool[] = [fetchMedia, createGetTranscript(options), ...(search ? [searchMedia] : [])];

  return async (event, context) => {
    const ownUrl = publicBaseUrl(event, options);
    if (isForeignPage(headerOf(event, 'origin'), origins, ownUrl)) throw problems.crossSite();
    const call = {
      event,
      context,
      baseUrl: () => {
        if (ownUrl === undefined)
          throw problems.badRequest('The address of this instance is not known: PUBLIC_URL names it.');
        return ownUrl;
      },
      resolve: (url: string) => {
        const rawQueryString = new URLSearchParams({ url }).toString();
        return resolveRequest({ ...event, rawQueryString }, context, { maxEntryWaitSeconds: 0 });
      },
    };
    const { serveMessage } = await import('./mcp-server.ts');
    const inWords = (error: unknown, tool: string) => {
      const problem = toProblem(error);
      report(log, problem, { tool });
      return sayProblem(problem.details);
    };
    return serveMessage(event, { tools, call, version, maxBytes: MAX_BODY_BYTES, inWords });
  };
};
