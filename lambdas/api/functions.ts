import type { FunctionOperationId } from '../../core/api/index.ts';
import { type Answer, type Handler, routeOperations } from '../middleware/index.ts';
import { createGetFeed, type GetFeedOptions } from './feed/index.ts';
import { createGet } from './get.ts';
import { createGetApiDescription, type GetApiDescriptionOptions } from './get-api-description.ts';
import { createGetAppInfo, type GetAppInfoOptions } from './get-app-info.ts';
import { createGetArchiveList, type GetArchiveListOptions } from './get-archive-list.ts';
import { createGetDetails, type GetDetailsOptions } from './get-details.ts';
import { createGetPlayback } from './get-playback.ts';
import { createGetRequestCount, type GetRequestCountOptions } from './get-request-count.ts';
import { createGetResource, type GetResourceOptions } from './get-resource.ts';
import { createMcp, type McpOptions } from './mcp/index.ts';
import { createResolveRequest, type ResolveOptions } from './resolve-request.ts';

type ResolvingAnswersOptions = ResolveOptions &
  Omit<GetFeedOptions & GetDetailsOptions & GetResourceOptions & GetArchiveListOptions & McpOptions, 'resolveRequest'>;

/** The operations that resolve a link. */
export function createResolvingAnswers(options: ResolvingAnswersOptions) {
  const resolving = { ...options, resolveRequest: createResolveRequest(options) };
  return {
    GetResource: createGetResource(resolving),
    GetDetails: createGetDetails(resolving),
    GetPlayback: createGetPlayback(resolving),
    Get: createGet(resolving),
    Feed: createGetFeed(resolving),
    ArchiveList: createGetArchiveList(resolving),
    Mcp: createMcp(resolving),
  } satisfies Partial<Record<FunctionOperationId, Answer>>;
}

/** The operations that report on the instance. */
export const createAppAnswers = (options: GetAppInfoOptions & GetRequestCountOptions) => ({
  GetAppInfo: createGetAppInfo(options),
  GetRequestCount: createGetRequestCount(options),
});

type FunctionsOptions = ResolvingAnswersOptions & Parameters<typeof createAppAnswers>[0] & GetApiDescriptionOptions;

/** All that functions answer. */
export const createFunctions = (options: FunctionsOptions): Handler =>
  routeOperations(
    {
      ...createAppAnswers(options),
      ...createResolvingAnswers(options),
    } satisfies Record<FunctionOperationId, Answer>,
    options,
    createGetApiDescription(options),
  );
