import type { FunctionOperationId } from '../../core/api/index.ts';
import { type Handler, type OperationHandler, routeOperations } from '../http-handler.ts';
import { createGetApiDescription, type GetApiDescriptionOptions } from './get-api-description.ts';
import {
  createGetAppInfo,
  createGetRequestCount,
  type GetAppInfoOptions,
  type GetRequestCountOptions,
} from './get-app-info.ts';
import { createGetDetails, type GetDetailsOptions } from './get-details.ts';
import { createGetFeed, type GetFeedOptions } from './get-feed.ts';
import { createGet, createGetArchiveList, type GetArchiveListOptions } from './get-media.ts';
import { createGetPlayback } from './get-playback.ts';
import { createGetResource, type GetResourceOptions } from './get-resource.ts';
import { createMcp, type McpOptions } from './mcp.ts';
import { createResolveRequest, type ResolveRequestOptions } from './resolve-request.ts';

type ResolvingHandlersOptions = ResolveRequestOptions &
  Omit<GetFeedOptions & GetDetailsOptions & GetResourceOptions & GetArchiveListOptions & McpOptions, 'resolveRequest'>;

/** The operations that resolve a link. */
export function createResolvingHandlers(options: ResolvingHandlersOptions) {
  const resolving = { ...options, resolveRequest: createResolveRequest(options) };
  return {
    GetResource: createGetResource(resolving),
    GetDetails: createGetDetails(resolving),
    GetPlayback: createGetPlayback(resolving),
    Get: createGet(resolving),
    Feed: createGetFeed(resolving),
    ArchiveList: createGetArchiveList(resolving),
    Mcp: createMcp(resolving),
  } satisfies Partial<Record<FunctionOperationId, OperationHandler>>;
}

/** The operations that report on the instance. */
export const createAppHandlers = (options: GetAppInfoOptions & GetRequestCountOptions) => ({
  GetAppInfo: createGetAppInfo(options),
  GetRequestCount: createGetRequestCount(options),
});

type FunctionsOptions = ResolvingHandlersOptions & Parameters<typeof createAppHandlers>[0] & GetApiDescriptionOptions;

/** All that functions answer. */
export const createFunctions = (options: FunctionsOptions): Handler =>
  routeOperations(
    {
      ...createAppHandlers(options),
      ...createResolvingHandlers(options),
    } satisfies Record<FunctionOperationId, OperationHandler>,
    options,
    createGetApiDescription(options),
  );
