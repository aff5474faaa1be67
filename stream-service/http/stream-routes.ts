import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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
import { InvalidParameter } from '../../core/errors/index.ts';
import { accessHeaderOf, predictRange, signerFor } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { SUBTITLE_FORMATS, type SubtitleFormat } from '../../core/media/subtitles/index.ts';
import type { KeyLookup } from '../../core/state/index.ts';
import type { Archives } from '../outputs/archive/index.ts';
import type { RepresentationHead, RepresentationOpener, Representations } from '../outputs/index.ts';
import type { StreamSession, StreamSessions } from '../sessions/index.ts';
import { type Named, responseHeaders, sendRepresentation } from './send-representation.ts';
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
  readonly find: KeyLookup;
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
    <Found extends Named>(
      findByKey: (key: string) => Promise<Found>,
      /** @throws Problem 400 for an invalid query */
      parse: (query: Route['Querystring'], params: Route['Params']) => (found: Found) => RepresentationOpener,
    ) =>
    (operationId: StreamOperationId): void => {
      const path = routePath(operationId);
      /** Of one request: what a parsed query chooses, the headers of its response, and a slot for it. */
      const prepare = async (request: FastifyRequest<Route>, reply: FastifyReply) => {
        const choose = parse(request.query, request.params);
        const found = await findByKey(request.params.key);
        const accessHeader = accessHeaderOf(request);
        return {
          createOpener: () => choose(found),
          headersOf: (head: RepresentationHead) => responseHeaders(operationId, found, head, signerFor(accessHeader)),
          openSession: () => sessions.open(request.ip, reply.raw, accessHeader),
        };
      };

      // Explicit: Fastify's own HEAD would run GET and read the whole source.
      app.head<Route>(path, async (request, reply) => {
        const { createOpener, headersOf, openSession } = await prepare(request, reply);
        return reply.headers(headersOf(await describeForHead(createOpener(), openSession, log))).send();
      });

      app.get<Route>(path, async (request, reply) => {
        const { createOpener, headersOf, openSession } = await prepare(request, reply);
        const session = openSession();
        const representation = await createOpener().open(session, predictRange(request.headers.range));
        return sendRepresentation(request, reply, { representation, headersOf, session, stalledClients, log });
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
