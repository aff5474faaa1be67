import { predictRange } from '@reelay/seekable-media/http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import {
  problems,
  type Query,
  readSelection,
  routes,
  type Selection,
  type StreamOperationId,
} from '../../core/api/index.ts';
import { InvalidParameter, UnsupportedRendition } from '../../core/errors/index.ts';
import {
  ACCESS_VARY,
  accessHeaderOf,
  corsHeaders,
  crossSiteHeaders,
  isCrossSiteSubrequest,
  isForCrossSite,
  mergeVary,
  ownJobId,
  preflightHeaders,
  signerFor,
} from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { KeyedRendition, KeyLookup } from '../../core/state/index.ts';
import {
  type ArchiveJobs,
  NoSuchFile,
  type OutputPlan,
  type Outputs,
  planArchive,
  planSubtitle,
  prepareOutput,
  type RepresentationHead,
} from '../outputs/index.ts';
import type { StreamSession, StreamSessions } from '../sessions/index.ts';
import type { SkipSegments } from '../sponsorblock.ts';
import { archiveProgressRoute } from './archive-progress.ts';
import { MAX_HEADER_BYTES, respondToClientError } from './client-error.ts';
import { createReplyProblem, nameSubject } from './problem-reply.ts';
import { segmentsRoute } from './segments.ts';
import type { StalledClients } from './send-body.ts';
import {
  matchesIfNoneMatch,
  type Named,
  responseHeaders,
  sendNotModified,
  sendRepresentation,
} from './send-representation.ts';

export interface AppOptions extends StreamRoutesDependencies {
  /** Proxies in front whose X-Forwarded-For is trusted. */
  readonly trustedProxies: number;
  /** Adds the host's own routes and hooks, which run before those of the streams. */
  readonly extend?: (app: FastifyInstance) => void;
}

/** The HTTP server of the stream service: routing, CORS, and a Problem for every failure. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { corsAllowedOrigins, trustedProxies, log } = options;
  const replyProblem = createReplyProblem(log);
  const setCommonHeaders = (request: FastifyRequest, reply: FastifyReply) => {
    const cors = corsHeaders(request.headers.origin, corsAllowedOrigins);
    const crossSite = crossSiteHeaders(corsAllowedOrigins);
    const vary = mergeVary(cors.vary, crossSite.vary, accessHeaderOf(request) && ACCESS_VARY);
    reply.headers({ 'x-content-type-options': 'nosniff', ...cors, ...crossSite, ...(vary && { vary }) });
  };

  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: true,
    // Admission refuses new streams while draining, with a Problem as the body.
    return503OnClosing: false,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    clientErrorHandler: respondToClientError,
    trustProxy: (_address, hop) => hop < trustedProxies,
    routerOptions: { caseSensitive: false, maxParamLength: MAX_KEY_LENGTH },
    // Called for a path that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply);
      replyProblem(problems.notFound(error), request, reply);
    },
  });

  // The one body that is read is JSON.
  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', async (request, reply) => {
    setCommonHeaders(request, reply);
  });
  options.extend?.(app);
  // This hook runs before a body is parsed.
  app.addHook('onRequest', async (request, reply) => {
    const [path = ''] = request.url.split('?', 1);
    const methods = methodsOfPath(path);
    if (!methods && (request.method === 'GET' || request.method === 'HEAD')) return;
    if (!methods) throw problems.notFound();
    if (methods.split(', ').includes(request.method)) {
      // Before a key is looked up: the answer to a page is the same whether it exists or not.
      if (isCrossSiteSubrequest(readerOf(request), corsAllowedOrigins)) throw problems.crossSite();
      return;
    }
    if (request.method !== 'OPTIONS') throw problems.methodNotAllowed(`${methods}, OPTIONS`);
    return reply
      .code(204)
      .headers(
        preflightHeaders({
          origin: request.headers.origin,
          allowed: corsAllowedOrigins,
          methods,
          accessHeader: accessHeaderOf(request),
        }),
      )
      .send();
  });
  app.setNotFoundHandler((request, reply) => replyProblem(problems.notFound(), request, reply));
  app.setErrorHandler((error, request, reply) => replyProblem(error, request, reply));

  streamRoutes(app, options);
  return app;
}

const readerOf =
  ({ headers }: Pick<FastifyRequest, 'headers'>) =>
  (name: string): string | undefined =>
    headers[name]?.toString();

/** Longest key in characters that a route matches; issued keys have 33. A longer one is an unknown path. */
const MAX_KEY_LENGTH = 64;

const streamRouteTable = routes.filter(({ servedBy }) => servedBy === 'stream-service');
const streamPaths = streamRouteTable.map(({ path, methods }) => {
  const pattern = path.replaceAll('.', '\\.').replace(/\{\w+\}/g, `[^/]{1,${MAX_KEY_LENGTH}}`);
  return { pattern: new RegExp(`^${pattern}$`, 'i'), methods: methods.join(', ') };
});

/** The methods of a stream path besides OPTIONS, such as `GET, HEAD`; undefined for any other path. */
const methodsOfPath = (path: string): string | undefined =>
  streamPaths.find(({ pattern }) => pattern.test(path))?.methods;

interface StreamRoutesDependencies {
  /** Origins whose pages may read responses, or `*`. */
  readonly corsAllowedOrigins: readonly string[];
  readonly find: KeyLookup;
  readonly sessions: StreamSessions;
  readonly outputs: Outputs<OutputPlan>;
  readonly segments: SkipSegments;
  readonly archiveJobs: ArchiveJobs;
  readonly stalledClients: StalledClients;
  readonly log: Log;
}

/** What GET is refused with, too. */
const FINAL = [InvalidParameter, UnsupportedRendition, NoSuchFile];

interface Route {
  Params: { key: string; file?: string };
  Querystring: Query;
}

/** What a key names. */
interface Subject extends Named {
  /** An archive has neither. */
  readonly resource: Named['resource'] & Partial<Pick<KeyedRendition['resource'], 'origin'>>;
  readonly rendition?: Pick<KeyedRendition['rendition'], 'label'>;
}

/** GET and HEAD of the Stream endpoints: find the rendition, open a session and the representation, send it. */
function streamRoutes(app: FastifyInstance, dependencies: StreamRoutesDependencies): void {
  const { corsAllowedOrigins, find, sessions, outputs, segments, archiveJobs, stalledClients, log } = dependencies;

  /** The head of GET's response; by the plan where its sources cannot be opened or no slot is free. */
  const findHead = async (plan: OutputPlan, openSession: () => StreamSession): Promise<RepresentationHead> => {
    if (plan.answersHead) return plan.head;
    try {
      return await outputs.inspect(plan, openSession());
    } catch (error) {
      if ((plan.kind === 'selected' && plan.window) || FINAL.some((kind) => error instanceof kind)) throw error;
      log.info('Answering HEAD without opening the source', { error });
      return plan.head;
    }
  };

  /**
   * Returns what registers the routes of an operation at a path.
   * @param planFor plans the output; `ownJob` names a job among those of the access key
   */
  const route =
    <Found extends Subject>(
      findByKey: (key: string) => Promise<Found>,
      planFor: (
        found: Found,
        selection: Selection,
        request: { readonly file: string; readonly ownJob: (jobId: string) => string },
      ) => OutputPlan | Promise<OutputPlan>,
    ) =>
    (path: string, operationId: StreamOperationId): void => {
      /** What a request is answered with, the headers of its response, and a slot for it. */
      const prepare = async (request: FastifyRequest<Route>, reply: FastifyReply) => {
        const selection = readSelection(operationId, request.query);
        const { key, file = '' } = request.params;
        const found = await findByKey(key);
        nameSubject(request, found.resource.origin?.url, found.rendition?.label);
        const accessHeader = accessHeaderOf(request);
        const signKey = signerFor(accessHeader);
        const ownJob = (jobId: string) => ownJobId(jobId, accessHeader);
        const plan = await planFor(found, selection, { file, ownJob });
        const { partTitle, version } = plan;
        const { fileName, skip, mark } = selection;
        const hasSkips = (skip ?? mark) !== undefined;
        const isOfLink = isForCrossSite(readerOf(request), corsAllowedOrigins);
        const named = { ...found, fileName, partTitle, version, hasSkips, isForCrossSite: isOfLink };
        return {
          plan,
          headersOf: (head: RepresentationHead) => responseHeaders(operationId, named, head, signKey),
          openSession: () => sessions.open(request.ip, reply.raw, accessHeader),
        };
      };

      // Explicit: Fastify's own HEAD would run GET and read the whole source.
      app.head<Route>(path, async (request, reply) => {
        const { plan, headersOf, openSession } = await prepare(request, reply);
        const head = await findHead(plan, openSession);
        if (head.segments) return redirectToSegments(request, reply, head.segments);
        if (matchesIfNoneMatch(request, head)) return sendNotModified(reply, headersOf(head));
        return reply.headers(headersOf(head)).send();
      });

      app.get<Route>(path, async (request, reply) => {
        const { plan, headersOf, openSession } = await prepare(request, reply);
        if (plan.answersHead && matchesIfNoneMatch(request, plan.head))
          return sendNotModified(reply, headersOf(plan.head));
        const session = openSession();
        const representation = await outputs.open(plan, session, predictRange(request.headers.range));
        if (representation.segments) return redirectToSegments(request, reply, representation.segments);
        if (matchesIfNoneMatch(request, representation)) return sendNotModified(reply, headersOf(representation));
        return sendRepresentation(request, reply, { representation, headersOf, session, stalledClients, log });
      });
    };

  const planMedia =
    (route: 'Media' | 'Combined') =>
    async (found: KeyedRendition, selection: Selection): Promise<OutputPlan> => {
      const { skip, mark } = selection;
      // Most requests ask for nothing of them.
      if (!skip && !mark) return prepareOutput(found, { route, ...selection });
      const { resource, ...applied } = await segments.apply(found.resource, selection);
      return prepareOutput({ ...found, resource }, { route, ...selection, ...applied });
    };
  const planHls = (found: KeyedRendition, selection: Selection, file: string) =>
    prepareOutput(found, { route: 'Hls', ...selection, file });
  const registrations: Readonly<Record<StreamOperationId, (path: string, operationId: StreamOperationId) => void>> = {
    Media: route(find.rendition, planMedia('Media')),
    Combined: route(find.rendition, planMedia('Combined')),
    HlsMaster: route(find.rendition, (found, selection) => planHls(found, selection, 'master.m3u8')),
    HlsFile: route(find.rendition, (found, selection, { file }) => planHls(found, selection, file)),
    Subtitle: route(find.subtitle, (found, { textFormat }) => planSubtitle(found, textFormat)),
    Cover: route(find.rendition, (found) => prepareOutput(found, { route: 'Cover' })),
    ArchiveProgress: (path) => archiveProgressRoute(app, path, archiveJobs, stalledClients),
    SkipSegments: (path) => segmentsRoute(app, path, find, segments),
    Archive: route(find.archive, (found, { jobId, ...selection }, { ownJob }) =>
      planArchive(found, { ...selection, jobId: jobId && ownJob(jobId) }),
    ),
  };
  for (const { path, operationId } of streamRouteTable) {
    // Fastify's syntax: `/api/Stream/Media/:key`.
    registrations[operationId as StreamOperationId](
      path.replace(/\{(\w+)\}/g, ':$1'),
      operationId as StreamOperationId,
    );
  }
}

/** The address of a part of a live stream whose bytes do not change, with the other parameters as they were sent. */
function redirectToSegments({ url }: FastifyRequest, reply: FastifyReply, segments: string): FastifyReply {
  const [path = ''] = url.split('?', 1);
  const query = new URLSearchParams(url.slice(path.length));
  // Those of a clip of the segments stay.
  for (const name of query.has('segments') ? ['segments'] : ['start', 'end']) query.delete(name);
  query.append('segments', segments);
  return reply
    .code(302)
    .headers({ location: `${path}?${query}`, 'cache-control': 'no-store' })
    .send();
}
