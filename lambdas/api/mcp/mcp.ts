import { MAX_BODY_BYTES, operationsById, problems, sayProblem, toProblem } from '../../../core/api/index.ts';
import { isForeignPage } from '../../../core/http/index.ts';
import { describeError, type Log } from '../../../core/log/index.ts';
import { createHandler, type Handler, headerOf } from '../../middleware/index.ts';
import { type PublicBaseUrlOptions, publicBaseUrl } from '../public-base-url.ts';
import { createResolveRequest, type ResolvedRequest, type ResolveOptions } from '../resolve-request.ts';
import { fetchMedia } from './fetch-media.ts';
import { createGetTranscript, type GetTranscriptOptions } from './get-transcript.ts';
import { searchMedia } from './search-media.ts';
import type { Tool } from './tool.ts';

export interface McpOptions extends Omit<ResolveOptions, 'resolver'>, Omit<PublicBaseUrlOptions, 'isBehindEdge'> {
  readonly resolver: ResolveOptions['resolver'] & GetTranscriptOptions['resolver'];
  /** The version of the service. */
  readonly version: string;
  /** Whether pages of search results are resolved. @default false */
  readonly search?: boolean;
  /** Called around each resolve. @default nothing is measured */
  readonly measure?: (resolve: () => Promise<ResolvedRequest>) => Promise<ResolvedRequest>;
}

/** POST /mcp: the Model Context Protocol by streamable HTTP without sessions, with tools that read. */
export const createMcp = (options: McpOptions): Handler => {
  const { measure = (resolve) => resolve() } = options;
  const resolveRequest = createResolveRequest(options);
  const isBehindEdge = options.originSecret !== undefined;
  const tools: readonly Tool[] = [fetchMedia, createGetTranscript(options), ...(options.search ? [searchMedia] : [])];

  return createHandler({ ...options, methods: operationsById.Mcp.methods }, async (event, context) => {
    const ownUrl = publicBaseUrl(event, { ...options, isBehindEdge });
    if (isForeignPage(headerOf(event, 'origin'), options.origins, ownUrl)) throw problems.crossSite();
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
        return measure(() => resolveRequest({ ...event, rawQueryString }, context, { maxEntryWaitSeconds: 0 }));
      },
    };
    const { serveMessage } = await import('./serve.ts');
    const inWords = (error: unknown, tool: string) => sayFailure(error, tool, options.log);
    return serveMessage(event, { tools, call, version: options.version, maxBytes: MAX_BODY_BYTES, inWords });
  });
};

/** What a tool fails with, in words. Server errors are logged. */
function sayFailure(error: unknown, tool: string, log: Log): string {
  const { details, cause } = toProblem(error);
  if (details.status === 500) log.error('Tool failed', { tool, error: cause });
  else if (details.status > 500 && cause !== undefined)
    log.warn('Tool failed', { tool, status: details.status, error: describeError(cause) });
  return sayProblem(details);
}
