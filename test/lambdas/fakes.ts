import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cue } from '@reelay/seekable-media/text/subtitles';
import { StateUnavailable, StorageFull } from '../../core/errors/index.ts';
import { fieldsWithoutSecrets } from '../../core/log/index.ts';
import type { EntriesAhead, Resolved, Resolver } from '../../core/resolve/index.ts';
import type { ArchivedList, Resource } from '../../core/state/resource.ts';
import type { ArchiveProgress, MaintenanceLease, ToolsRecord } from '../../core/state/state.ts';
import { createFunctions } from '../../lambdas/api/functions.ts';
import type { Event, Result } from '../../lambdas/http-handler.ts';

export const ALLOWED_ORIGIN = 'https://page.example';

/** In-memory dependencies of the functions; tests change them. */
export interface ApiFakes {
  tools: ToolsRecord | undefined;
  lease: MaintenanceLease | undefined;
  /** The table is unavailable. */
  isUnavailable: boolean;
  /** The disk has no space for records. */
  isFull?: boolean;
  /** How counting a request fails. */
  countless: 'failing' | 'hanging' | undefined;
  count: number;
  /** Returned by a resolve, or thrown when it is an error. */
  outcome: Resolved | Error;
  readonly resolves: {
    readonly url: string;
    readonly deadline: number;
    readonly offset?: number;
    readonly ahead?: EntriesAhead | undefined;
  }[];
  /** Lists stored for archives. */
  readonly lists: ArchivedList[];
  /** Whether search results are resolved. */
  search?: boolean;
  publicUrl?: string;
  /** What subtitle files contain. */
  cues: readonly Cue[];
  /** Stored progress of archives, with the ids of their jobs. */
  readonly progress: [jobId: string, progress: ArchiveProgress][];
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

export const createApiFakes = (): ApiFakes => ({
  tools: { ytDlp: '2026.11.20', ffmpeg: '7.1', verifiedBy: { ytDlp: 'signature', ffmpeg: 'registry' }, installedAt: 0 },
  lease: undefined,
  isUnavailable: false,
  countless: undefined,
  count: 0,
  outcome: { type: 'Media', resource: RESOURCE },
  resolves: [],
  lists: [],
  cues: [],
  progress: [],
  logged: [],
});

/** The functions over fakes, as every host routes them. */
export function functionsOver(fakes: ApiFakes, environment = 'Development') {
  const alive = <T>(act: () => T) =>
    new Promise<T>((resolve) => {
      if (fakes.isUnavailable) throw new StateUnavailable('The state table did not answer');
      resolve(act());
    });
  const resolver: Pick<Resolver, 'resolve' | 'readSubtitle'> = {
    resolve: async (url, { deadline, offset, ahead }) => {
      fakes.resolves.push({ url, deadline, ahead, ...(offset && { offset }) });
      if (fakes.outcome instanceof Error) throw fakes.outcome;
      return fakes.outcome;
    },
    readSubtitle: async () => fakes.cues,
  };
  const log = (message: string, fields: Record<string, unknown> = {}) =>
    void fakes.logged.push(`${message} ${JSON.stringify(fieldsWithoutSecrets(fields))}`);
  return createFunctions({
    state: {
      getTools: () => alive(() => fakes.tools),
      getMaintenance: () => alive(() => fakes.lease),
      countRequests: () => alive(() => fakes.count),
      requireSpace: async () => {
        if (fakes.isFull) throw new StorageFull('No space');
      },
      addRequest: async () => {
        if (fakes.countless === 'failing') throw new StateUnavailable('The state table refused');
        if (fakes.countless === 'hanging') return new Promise<never>(() => undefined);
        fakes.count++;
      },
      putArchivedList: async (list) => void fakes.lists.push(list),
      putArchiveProgress: (...progress) => alive(() => void fakes.progress.push(progress)),
    },
    resolver,
    search: fakes.search,
    publicUrl: fakes.publicUrl,
    version: '1.2.3',
    environment,
    origins: [ALLOWED_ORIGIN],
    assetsDir: dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json'))),
    log: { info: log, warn: log, error: log },
  });
}

interface EventOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly timeEpoch?: number;
}

/** An event of an HTTP API, with the fields that functions read. */
export const eventOf = (
  path: string,
  { method = 'GET', headers = {}, body, timeEpoch = Date.now() }: EventOptions = {},
): Event => {
  const [rawPath = '', rawQueryString = ''] = path.split(/\?(.*)/s);
  return {
    rawPath,
    rawQueryString,
    headers,
    ...(body !== undefined && { body }),
    requestContext: { http: { method, sourceIp: '192.0.2.1' }, requestId: 'request', timeEpoch },
  };
};

/** Invokes the function that the path is routed to. */
export function ask(fakes: ApiFakes, path: string, options?: EventOptions): Promise<Result> {
  return functionsOver(fakes)(eventOf(path, options), {} as never);
}

export const jsonOf = ({ body = '' }: Result): unknown => JSON.parse(body);
