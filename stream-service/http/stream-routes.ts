import type { FastifyInstance } from 'fastify';
import type { StreamOperationId } from '../../core/api/index.ts';
import { predictRangeStart } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { KeyedRendition } from '../../core/state/index.ts';
import type { RepresentationHead, RepresentationOpener } from '../representation.ts';
import type { Representations } from '../representations/index.ts';
import type { StreamSession, StreamSessions } from '../sessions/index.ts';
import type { FindRendition } from './find-rendition.ts';
import { responseHeaders } from './response-headers.ts';
import { sendRepresentation } from './send-representation.ts';
import type { StalledClients } from './stalled-clients.ts';
import { routePath } from './stream-paths.ts';

export interface StreamRoutesDependencies {
  readonly findRendition: FindRendition;
  readonly sessions: StreamSessions;
  readonly representations: Representations;
  readonly stalledClients: StalledClients;
  readonly log: Log;
}

interface Route {
  Params: { key: string };
  Querystring: { format?: string | string[] };
}
type Query = Route['Querystring'];

/** GET and HEAD of the Stream endpoints: find the rendition, open a session and the representation, send it. */
export function streamRoutes(app: FastifyInstance, dependencies: StreamRoutesDependencies): void {
  const { findRendition, sessions, representations, stalledClients, log } = dependencies;

  const route = (
    operationId: StreamOperationId,
    choose: (found: KeyedRendition, query: Query) => RepresentationOpener,
  ) => {
    const path = routePath(operationId);
    // Explicit: Fastify's own HEAD would run GET and read the whole source.
    app.head<Route>(path, async (request, reply) => {
      const found = await findRendition(request.params.key);
      const openSession = () => sessions.open(request.ip, reply.raw);
      const head = await describeForHead(choose(found, request.query), openSession, log);
      return reply.headers(responseHeaders(operationId, found, head)).send();
    });

    app.get<Route>(path, async (request, reply) => {
      const found = await findRendition(request.params.key);
      const session = sessions.open(request.ip, reply.raw);
      const firstByte = predictRangeStart(request.headers.range);
      const representation = await choose(found, request.query).open(session, firstByte);
      return sendRepresentation(request, reply, { operationId, found, representation, session, stalledClients, log });
    });
  };

  route('Media', (found, query) => representations.media(found, formatOf(query)));
  route('Combined', (found) => representations.combined(found));
}

/** Of a repeated `format` the first counts. */
const formatOf = ({ format }: Query): string | undefined => [format].flat()[0];

/** What GET would answer, by the open sources; by the state table where they cannot be opened or no slot is free. */
async function describeForHead(
  { describe, inspect }: RepresentationOpener,
  openSession: () => StreamSession,
  log: Log,
): Promise<RepresentationHead> {
  if (!inspect) return describe();
  try {
    return await inspect(openSession());
  } catch (error) {
    log.info('Answering HEAD without opening the source', { error });
    return describe();
  }
}
