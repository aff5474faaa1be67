import type { FastifyInstance } from 'fastify';
import {
  getOperation,
  operations,
  parseArchiveParameters,
  parseClipParameters,
  parseConversionParameters,
  parseSubtitlesParameter,
  problems,
  type StreamOperationId,
} from '../../core/api/index.ts';
import { createSingleFlight } from '../../core/concurrency/index.ts';
import { InvalidParameter, NotFound } from '../../core/errors/index.ts';
import { accessHeaderOf, predictRange, signerFor } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { SUBTITLE_FORMATS, type SubtitleFormat } from '../../core/media/subtitles/index.ts';
import {
  type ArchivedList,
  findByKey,
  findSubtitleByKey,
  type KeyedRendition,
  type KeyedSubtitle,
  type Resource,
  type State,
} from '../../core/state/index.ts';
import type { Archives } from '../archive/index.ts';
import type { RepresentationHead, RepresentationOpener } from '../representation.ts';
import type { Representations } from '../representations/index.ts';
import type { StreamSession, StreamSessions } from '../sessions/index.ts';
import { type Named, responseHeaders } from './response-headers.ts';
import { sendRepresentation } from './send-representation.ts';
import type { StalledClients } from './stalled-clients.ts';

/** Longest key in characters that a route matches; issued keys have 33. A longer one is an unknown path. */
export const MAX_KEY_LENGTH = 64;

const streamOperations = operations.filter(({ servedBy }) => servedBy === 'stream-service');
const streamPaths = streamOperations.map(({ path, methods }) => {
  const pattern = path.replaceAll('.', '\\.').replace(/\{\w+\}/g, `[^/]{1,${MAX_KEY_LENGTH}}`);
  return { pattern: new RegExp(`^${pattern}$`, 'i'), methods: methods.join(', ') };
});

/** The path of an operation in Fastify's syntax: `/api/Stream/Media/:key`. */
const routePath = (operationId: StreamOperationId): string =>
  getOperation(operationId).path.replace(/\{(\w+)\}/g, ':$1');

/** The methods of a stream path besides OPTIONS, such as `GET, HEAD`; undefined for any other path. */
export const methodsOfPath = (path: string): string | undefined =>
  streamPaths.find(({ pattern }) => pattern.test(path))?.methods;

export interface StreamRoutesDependencies {
  readonly find: FindByKey;
  readonly sessions: StreamSessions;
  readonly representations: Representations;
  readonly archives: Archives;
  readonly stalledClients: StalledClients;
  readonly log: Log;
}

type Parameter =
  | 'format'
  | 'bitrate'
  | 'tags'
  | 'subtitles'
  | 'start'
  | 'end'
  | 'entity'
  | 'quality'
  | 'codec'
  | 'from';

interface Route {
  Params: { key: string; file?: string };
  Querystring: { readonly [Name in Parameter]?: string | string[] };
}

/** GET and HEAD of the Stream endpoints: find the rendition, open a session and the representation, send it. */
export function streamRoutes(app: FastifyInstance, dependencies: StreamRoutesDependencies): void {
  const { find, sessions, representations, archives, stalledClients, log } = dependencies;

  /** Returns what registers the routes of an operation. */
  const route =
    <Found extends Keyed>(
      findByKey: (key: string) => Promise<Found>,
      /** @throws Problem 400 for an invalid query */
      parse: (query: Route['Querystring'], params: Route['Params']) => (found: Found) => RepresentationOpener,
    ) =>
    (operationId: StreamOperationId): void => {
      const path = routePath(operationId);
      // Explicit: Fastify's own HEAD would run GET and read the whole source.
      app.head<Route>(path, async (request, reply) => {
        const choose = parse(request.query, request.params);
        const found = await findByKey(request.params.key);
        const accessHeader = accessHeaderOf(request);
        const openSession = () => sessions.open(request.ip, reply.raw, accessHeader);
        const head = await describeForHead(choose(found), openSession, log);
        return reply.headers(responseHeaders(operationId, found, head, signerFor(accessHeader))).send();
      });

      app.get<Route>(path, async (request, reply) => {
        const choose = parse(request.query, request.params);
        const found = await findByKey(request.params.key);
        const session = sessions.open(request.ip, reply.raw, accessHeaderOf(request));
        const range = predictRange(request.headers.range);
        const representation = await choose(found).open(session, range);
        return sendRepresentation(request, reply, { operationId, found, representation, session, stalledClients, log });
      });
    };

  const routes: Readonly<Record<StreamOperationId, (operationId: StreamOperationId) => void>> = {
    Media: route(find.rendition, (query) => {
      const subtitles = parseSubtitlesParameter(query.subtitles);
      const options = { ...parseConversionParameters(query), clip: parseClipParameters(query), subtitles };
      return (found) => representations.media(found, options);
    }),
    Combined: route(find.rendition, (query) => {
      const subtitles = parseSubtitlesParameter(query.subtitles);
      return (found) => representations.combined(found, { subtitles });
    }),
    HlsMaster: route(find.rendition, () => (found) => representations.hls(found, { name: 'master.m3u8' })),
    HlsFile: route(find.rendition, (query, { file = '' }) => {
      const options = { name: file, entity: firstOf(query.entity) };
      return (found) => representations.hls(found, options);
    }),
    Subtitle: route(find.subtitle, (query) => {
      const format = parseSubtitleFormat(firstOf(query.format));
      return (found) => representations.subtitle(found, format);
    }),
    Cover: route(find.rendition, () => (found) => representations.cover(found)),
    Archive: route(find.archive, (query) => {
      const parameters = parseArchiveParameters(query);
      return ({ list }) => archives.open(list, parameters);
    }),
  };
  for (const [operationId, register] of Object.entries(routes)) register(operationId as StreamOperationId);
}

function parseSubtitleFormat(text = 'vtt'): SubtitleFormat {
  const format = SUBTITLE_FORMATS.find((known) => known === text.toLowerCase());
  if (!format) throw problems.badRequest(`format has to be ${SUBTITLE_FORMATS.join(', ')}, or absent`);
  return format;
}

/** Of a repeated parameter the first counts. */
const firstOf = (value: string | string[] | undefined): string | undefined => [value].flat()[0];

/**
 * The head of GET's response, from the open sources; from the state table where they cannot be opened or no slot is
 * free.
 */
async function describeForHead(
  { describe, inspect }: RepresentationOpener,
  openSession: () => StreamSession,
  log: Log,
): Promise<RepresentationHead> {
  if (!inspect) return describe();
  try {
    return await inspect(openSession());
  } catch (error) {
    if (error instanceof InvalidParameter) throw error;
    log.info('Answering HEAD without opening the source', { error });
    return describe();
  }
}

/** What a key identifies. */
interface Keyed extends Named {
  readonly key: string;
}

/** A list whose archive a key identifies. */
interface KeyedArchive extends Keyed {
  readonly list: ArchivedList;
}

/** Looks up keys. @throws NotFound for an unknown key, StateUnavailable */
export interface FindByKey {
  rendition(key: string): Promise<KeyedRendition>;
  subtitle(key: string): Promise<KeyedSubtitle>;
  archive(key: string): Promise<KeyedArchive>;
}

export interface FindByKeyDependencies {
  readonly state: Pick<State, 'getResource' | 'touchResource' | 'getArchivedList' | 'touchArchivedList'>;
  readonly log: Log;
}

/** Looks keys up in the state table, and extends the expiry of the resources that are used. */
export function createFindByKey({ state, log }: FindByKeyDependencies): FindByKey {
  // Concurrent requests for one resource share a read, so that a rush of clients does not flood the table.
  const reads = createSingleFlight<Resource | undefined>();
  const getResource = (id: string) => reads(id, () => state.getResource(id));

  const touched = <Found extends Keyed & { readonly resource: Resource }>(found: Found | undefined): Found => {
    if (!found) throw new NotFound('Nothing has the key');
    const { resource } = found;
    state
      .touchResource(resource)
      .catch((error) => log.warn('Extending the expiry of a resource failed', { resource: resource.id, error }));
    return found;
  };
  return {
    rendition: async (key) => touched(await findByKey(key, getResource)),
    subtitle: async (key) => touched(await findSubtitleByKey(key, getResource)),
    async archive(key) {
      const list = await state.getArchivedList(key);
      if (!list) throw new NotFound('Nothing has the key');
      state
        .touchArchivedList(list)
        .catch((error) => log.warn('Extending the expiry of a list failed', { list: list.id, error }));
      const { title, author } = list;
      return { key, list, resource: { title, author, isLive: false } };
    },
  };
}
