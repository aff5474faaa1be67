import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  getOperation,
  operations,
  parseArchiveParameters,
  parseMediaParameters,
  parseSubtitlesParameter,
  problems,
  type StreamOperationId,
} from '../../core/api/index.ts';
import { InvalidParameter, UnsupportedRendition } from '../../core/errors/index.ts';
import { accessHeaderOf, predictRange, signerFor } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { SUBTITLE_FORMATS, type SubtitleFormat } from '../../core/media/subtitles/index.ts';
import type { KeyLookup } from '../../core/state/index.ts';
import {
  NoSuchFile,
  type OutputPlan,
  type Outputs,
  planArchive,
  planOutput,
  planSubtitle,
  type RepresentationHead,
} from '../outputs/index.ts';
import type { StreamSession, StreamSessions } from '../sessions/index.ts';
import type { StalledClients } from './send-body.ts';
import { type Named, responseHeaders, sendRepresentation } from './send-representation.ts';

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
  readonly outputs: Outputs<OutputPlan>;
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

/** What GET is refused with, too. */
const FINAL = [InvalidParameter, UnsupportedRendition, NoSuchFile];

interface Route {
  Params: { key: string; file?: string };
  Querystring: { readonly [Name in Parameter]?: string | string[] };
}

/** GET and HEAD of the Stream endpoints: find the rendition, open a session and the representation, send it. */
export function streamRoutes(app: FastifyInstance, dependencies: StreamRoutesDependencies): void {
  const { find, sessions, outputs, stalledClients, log } = dependencies;

  /** The head of GET's response; by the plan where its sources cannot be opened or no slot is free. */
  const findHead = async (plan: OutputPlan, openSession: () => StreamSession): Promise<RepresentationHead> => {
    if (plan.answersHead) return plan.head;
    try {
      return await outputs.inspect(plan, openSession());
    } catch (error) {
      if (FINAL.some((kind) => error instanceof kind)) throw error;
      log.info('Answering HEAD without opening the source', { error });
      return plan.head;
    }
  };

  /** Returns what registers the routes of an operation. */
  const route =
    <Found extends Named>(
      findByKey: (key: string) => Promise<Found>,
      /** @throws Problem 400 for an invalid query */
      parse: (query: Route['Querystring'], params: Route['Params']) => (found: Found) => OutputPlan,
    ) =>
    (operationId: StreamOperationId): void => {
      const path = routePath(operationId);
      /** What a request is answered with, the headers of its response, and a slot for it. */
      const prepare = async (request: FastifyRequest<Route>, reply: FastifyReply) => {
        const planFor = parse(request.query, request.params);
        const found = await findByKey(request.params.key);
        const accessHeader = accessHeaderOf(request);
        return {
          plan: planFor(found),
          headersOf: (head: RepresentationHead) => responseHeaders(operationId, found, head, signerFor(accessHeader)),
          openSession: () => sessions.open(request.ip, reply.raw, accessHeader),
        };
      };

      // Explicit: Fastify's own HEAD would run GET and read the whole source.
      app.head<Route>(path, async (request, reply) => {
        const { plan, headersOf, openSession } = await prepare(request, reply);
        return reply.headers(headersOf(await findHead(plan, openSession))).send();
      });

      app.get<Route>(path, async (request, reply) => {
        const { plan, headersOf, openSession } = await prepare(request, reply);
        const session = openSession();
        const representation = await outputs.open(plan, session, predictRange(request.headers.range));
        return sendRepresentation(request, reply, { representation, headersOf, session, stalledClients, log });
      });
    };

  const routes: Readonly<Record<StreamOperationId, (operationId: StreamOperationId) => void>> = {
    Media: route(find.rendition, (query) => {
      const options = parseMediaParameters(query);
      return (found) => planOutput(found, { route: 'Media', ...options });
    }),
    Combined: route(find.rendition, (query) => {
      const subtitles = parseSubtitlesParameter(query.subtitles);
      return (found) => planOutput(found, { route: 'Combined', subtitles });
    }),
    HlsMaster: route(
      find.rendition,
      () => (found) => planOutput(found, { route: 'Hls', file: { name: 'master.m3u8' } }),
    ),
    HlsFile: route(find.rendition, (query, { file = '' }) => {
      const presentation = { name: file, entity: firstOf(query.entity) };
      return (found) => planOutput(found, { route: 'Hls', file: presentation });
    }),
    Subtitle: route(find.subtitle, (query) => {
      const format = parseSubtitleFormat(firstOf(query.format));
      return (found) => planSubtitle(found, format);
    }),
    Cover: route(find.rendition, () => (found) => planOutput(found, { route: 'Cover' })),
    Archive: route(find.archive, (query) => {
      const parameters = parseArchiveParameters(query);
      return (found) => planArchive(found, parameters);
    }),
  };
  for (const [operationId, register] of Object.entries(routes)) register(operationId as StreamOperationId);
}

function parseSubtitleFormat(text = 'vtt'): SubtitleFormat {
  const format = SUBTITLE_FORMATS.find((known) => known === text.toLowerCase());
  if (!format) throw problems.badRequest(`format must be ${SUBTITLE_FORMATS.join(', ')}, or absent`);
  return format;
}

/** The first value of a repeated parameter counts. */
const firstOf = (value: string | string[] | undefined): string | undefined => [value].flat()[0];
