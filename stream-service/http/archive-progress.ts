import type { OutgoingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createSemaphore } from '@reelay/concurrency';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EVENT_STREAM_HEADERS, parseJobId, progressEvent, waitingSince } from '../../core/api/index.ts';
import { CapacityExceeded, ClientLimitExceeded } from '../../core/errors/index.ts';
import { accessHeaderOf, clientOf, createClientNames, limitedBy, ownJobId } from '../../core/http/index.ts';
import type { ArchiveProgress } from '../../core/state/index.ts';
import type { ArchiveJobs } from '../outputs/index.ts';
import type { StalledClients } from './send-body.ts';

interface ProgressRequest {
  Params: { jobId: string };
}

/** GET and HEAD of ArchiveProgress: follows a job until it has ended. @param path in Fastify's syntax */
export function archiveProgressRoute(
  app: FastifyInstance,
  path: string,
  archiveJobs: Pick<ArchiveJobs, 'watch'>,
  stalledClients: StalledClients,
): void {
  const sendEvents = createSendEvents(stalledClients);
  app.head<ProgressRequest>(path, async (request, reply) => {
    parseJobId(request.params.jobId);
    return reply.headers(EVENT_STREAM_HEADERS).send();
  });

  app.get<ProgressRequest>(path, async (request, reply) => {
    const jobId = ownJobId(parseJobId(request.params.jobId), accessHeaderOf(request));
    const since = waitingSince(request.headers['last-event-id']?.toString(), Date.now());
    const left = new AbortController();
    return sendEvents(request, reply, left, eventsOf(archiveJobs.watch(jobId, since, left.signal)));
  });
}

async function* eventsOf(changes: AsyncIterable<ArchiveProgress | undefined>): AsyncGenerator<string | undefined> {
  for await (const progress of changes) yield progress && progressEvent(progress);
}

/** A watcher is a connection, and at most one read of the table in a second. */
const MAX_WATCHERS = 500;
const MAX_WATCHERS_PER_CLIENT = 10;
const RETRY_SECONDS = 10;
/** A line that clients ignore. */
const COMMENT = ':\n\n';

/**
 * Answers a request with server-sent events until they end or the client leaves, which aborts `left`. It counts as no stream.
 * @param events each as it is sent; `undefined`: nothing has changed for a while
 * @throws CapacityExceeded, ClientLimitExceeded
 */
type SendEvents = (
  request: FastifyRequest,
  reply: FastifyReply,
  left: AbortController,
  events: AsyncIterable<string | undefined>,
) => Promise<FastifyReply>;

function createSendEvents(stalledClients: StalledClients): SendEvents {
  const watchers = createSemaphore({ permits: MAX_WATCHERS, maxPerClient: MAX_WATCHERS_PER_CLIENT });
  const names = createClientNames();
  return async (request, reply, left, events) => {
    const held = names.hold(limitedBy(clientOf(request.ip), accessHeaderOf(request)));
    const permit = watchers.tryAcquire(held.name);
    if (!permit) {
      held.release();
      if (watchers.held() >= MAX_WATCHERS) throw new CapacityExceeded('No slot for another watcher', RETRY_SECONDS);
      throw new ClientLimitExceeded('The client has reached its limit of watchers', RETRY_SECONDS);
    }
    const { raw } = reply;
    raw.once('close', () => left.abort());
    if (raw.destroyed) left.abort();
    reply.hijack();
    raw.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...EVENT_STREAM_HEADERS });
    // A client waits for the head before it asks for what it follows.
    raw.flushHeaders();
    stalledClients.watch(raw);
    // One that has left is no failure.
    await pipeline(withComments(events), raw).catch(() => raw.destroy());
    permit.release();
    held.release();
    return reply;
  };
}

async function* withComments(events: AsyncIterable<string | undefined>): AsyncGenerator<string> {
  for await (const event of events) yield event ?? COMMENT;
}
