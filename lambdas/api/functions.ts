import { operations } from '../../core/api/index.ts';
import type { Handler } from '../middleware/index.ts';
import { createGetApiDescription, type GetApiDescriptionOptions } from './get-api-description.ts';
import { createGetAppInfo, type GetAppInfoOptions } from './get-app-info.ts';
import { createGetRequestCount } from './get-request-count.ts';
import { createGetResource, type GetResourceOptions } from './get-resource.ts';
import { createNotFound } from './not-found.ts';

export interface FunctionsOptions
  extends Omit<GetAppInfoOptions & GetApiDescriptionOptions, 'state' | 'methods'>,
    Pick<GetResourceOptions, 'extraction'> {
  readonly state: GetAppInfoOptions['state'] & GetResourceOptions['state'] & { countRequests(): Promise<number> };
}

/** Every function by the path it answers, spelled in lower case; a path that ends in `*` takes what begins so. */
export function createFunctions(options: FunctionsOptions): {
  readonly routes: Map<string, Handler>;
  fallback: Handler;
} {
  const of = (operationId: string) => {
    const found = operations.find((operation) => operation.operationId === operationId);
    if (!found) throw new Error(`No operation ${operationId}`);
    return { path: found.path.toLowerCase(), chain: { ...options, methods: found.methods } };
  };
  const [app, count, resource] = [of('GetAppInfo'), of('GetRequestCount'), of('GetResource')];
  return {
    routes: new Map([
      [app.path, createGetAppInfo(app.chain)],
      [count.path, createGetRequestCount(count.chain)],
      [resource.path, createGetResource(resource.chain)],
      ['/swagger*', createGetApiDescription(options)],
    ]),
    fallback: createNotFound(options),
  };
}
