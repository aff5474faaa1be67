import { type FunctionOperationId, operationsById } from '../../core/api/index.ts';
import type { Handler } from '../middleware/index.ts';
import { createGetFeed, type GetFeedOptions } from './feed/index.ts';
import { createGet } from './get.ts';
import { createGetApiDescription, type GetApiDescriptionOptions } from './get-api-description.ts';
import { createGetAppInfo, type GetAppInfoOptions } from './get-app-info.ts';
import { createGetArchiveList, type GetArchiveListOptions } from './get-archive-list.ts';
import { createGetDetails, type GetDetailsOptions } from './get-details.ts';
import { createGetPlayback } from './get-playback.ts';
import { createGetRequestCount } from './get-request-count.ts';
import { createGetResource } from './get-resource.ts';
import { createMcp, type McpOptions } from './mcp/index.ts';
import { createNotFound } from './not-found.ts';

export interface FunctionsOptions
  extends Omit<GetAppInfoOptions & GetApiDescriptionOptions, 'state'>,
    Pick<GetFeedOptions, 'publicUrl' | 'trustedProxies' | 'allowedHosts'>,
    Pick<GetDetailsOptions, 'sponsorblockUrl'>,
    Pick<McpOptions, 'resolver' | 'search'> {
  readonly state: GetAppInfoOptions['state'] & GetArchiveListOptions['state'] & { countRequests(): Promise<number> };
}

/** The functions by lower-case path; a path that ends in `*` matches every path with that prefix. */
export function createFunctions(options: FunctionsOptions): {
  readonly routes: Map<string, Handler>;
  fallback: Handler;
} {
  const handlers: Readonly<Record<FunctionOperationId, Handler>> = {
    GetAppInfo: createGetAppInfo(options),
    GetRequestCount: createGetRequestCount(options),
    GetResource: createGetResource(options),
    GetDetails: createGetDetails(options),
    GetPlayback: createGetPlayback(options),
    Get: createGet(options),
    Feed: createGetFeed(options),
    ArchiveList: createGetArchiveList(options),
    Mcp: createMcp(options),
  };
  const operationIds = Object.keys(handlers) as FunctionOperationId[];
  return {
    routes: new Map([
      ...operationIds.map((id): [string, Handler] => [operationsById[id].path.toLowerCase(), handlers[id]]),
      ['/swagger*', createGetApiDescription(options)],
    ]),
    fallback: createNotFound(options),
  };
}
