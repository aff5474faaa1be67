import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StateUnavailable } from '../../core/errors/errors.ts';
import type { Resolved, Resolver } from '../../core/resolve/resolver.ts';
import type { Resource } from '../../core/state/resource.ts';
import type { MaintenanceLease, ToolsRecord } from '../../core/state/state.ts';
import { createFunctions } from '../../lambdas/api/functions.ts';
import type { Event, Result } from '../../lambdas/middleware/event.ts';

export const ALLOWED_ORIGIN = 'https://page.example';

/** What the functions stand on, to be changed by a test. */
export interface World {
  tools: ToolsRecord | undefined;
  lease: MaintenanceLease | undefined;
  /** The table does not answer; or, it takes no counts. */
  dead: boolean;
  countless: 'failing' | 'hanging' | undefined;
  count: number;
  /** What a resolve gives, or throws when it is an error. */
  outcome: Resolved | Error;
  readonly resolves: { readonly url: string; readonly deadline: number }[];
  readonly logged: string[];
}

export const RESOURCE: Resource = {
  id: 'resource-resource-reso',
  origin: { url: 'https://media.example/1', extractor: 'Generic', entryId: '1' },
  title: 'Title',
  author: null,
  coverUrl: null,
  isLive: false,
  tracks: [],
  renditions: [
    {
      id: 'rendition-1',
      side: 'video',
      urlType: 'Media',
      formatIds: ['1'],
      label: '720p',
      description: null,
      fileExtension: '.mp4',
      mimeType: 'video/mp4',
      height: 720,
    },
  ],
  egress: 'direct',
  freshUntil: 0,
  expiresAt: 0,
};

export const createWorld = (): World => ({
  tools: { ytDlp: '2026.11.20', ffmpeg: '7.1', verifiedBy: { ytDlp: 'signature', ffmpeg: 'registry' }, installedAt: 0 },
  lease: undefined,
  dead: false,
  countless: undefined,
  count: 0,
  outcome: { type: 'Media', resource: RESOURCE },
  resolves: [],
  logged: [],
});

/** The functions over a world, in the form in which every host routes them. */
export function functionsOver(world: World, environment = 'Development') {
  const alive = <T>(act: () => T) =>
    new Promise<T>((resolve) => {
      if (world.dead) throw new StateUnavailable('The state table did not answer');
      resolve(act());
    });
  const extraction: Pick<Resolver, 'resolve'> = {
    resolve: async (url, { deadline }) => {
      world.resolves.push({ url, deadline });
      if (world.outcome instanceof Error) throw world.outcome;
      return world.outcome;
    },
  };
  const log = (message: string, fields?: object) => void world.logged.push(`${message} ${JSON.stringify(fields)}`);
  return createFunctions({
    state: {
      getTools: () => alive(() => world.tools),
      getMaintenance: () => alive(() => world.lease),
      countRequests: () => alive(() => world.count),
      addRequest: async () => {
        if (world.countless === 'failing') throw new StateUnavailable('The state table refused');
        if (world.countless === 'hanging') return new Promise<never>(() => undefined);
        world.count++;
      },
    },
    extraction,
    version: '1.2.3',
    environment,
    origins: [ALLOWED_ORIGIN],
    assetsDir: dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json'))),
    log: { info: log, warn: log, error: log },
  });
}

/** An event of an HTTP API, payload format 2.0, with no more in it than API Gateway always sends. */
export const eventOf = (path: string, { method = 'GET', headers = {}, timeEpoch = Date.now() } = {}): Event => {
  const [rawPath = '', rawQueryString = ''] = path.split(/\?(.*)/s);
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    headers,
    requestContext: {
      accountId: '1',
      apiId: 'api',
      domainName: 'api.example',
      domainPrefix: 'api',
      http: { method, path: rawPath, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: '' },
      requestId: 'request',
      routeKey: '$default',
      stage: '$default',
      time: '',
      timeEpoch,
    },
    isBase64Encoded: false,
  };
};

/** Asks the function that answers a path. */
export function ask(world: World, path: string, options?: Parameters<typeof eventOf>[1]): Promise<Result> {
  const { routes, fallback } = functionsOver(world);
  const event = eventOf(path, options);
  const spelled = event.rawPath.toLowerCase();
  const begins = [...routes].find(([route]) => route.endsWith('*') && spelled.startsWith(route.slice(0, -1)));
  return (routes.get(spelled) ?? begins?.[1] ?? fallback)(event, {} as never);
}

export const jsonOf = ({ body = '' }: Result): unknown => JSON.parse(body);
