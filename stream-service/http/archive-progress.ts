import type { OutgoingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { FastifyInstance } from 'fastify';
import { EVENT_STREAM_HEADERS, parseJobId, progressEvent, waitingSince } from '../../core/api/index.ts';
import { createSemaphore } from '../../core/concurrency/index.ts';
import { CapacityExceeded, ClientLimitExceeded, NotFound } from '../../core/errors/index.ts';
import { accessHeaderOf, clientOf, createClientNames, limitedBy } from '../../core/http/index.ts';
import type { ArchiveProgress } from '../../core/state/index.ts';
import type { ArchiveJobs } from '../outputs/index.ts';
import type { StalledClients } from './send-body.ts';

/** A watcher is a connection, and at most one read of the table in a second. */
const MAX_WATCHERS = 500;
const MAX_WATCHERS_PER_CLIENT = 10;
const RETRY_SECONDS = 10;
/** A line that clients ignore. */
const COMMENT = ':\n\n';

interface ProgressRequest {
  Params: { jobId: string };
}

export interface ArchiveProgressDependencies {
  readonly archiveJobs: Pick<ArchiveJobs, 'watch'>;
  readonly stalledClients: StalledClients;
}

/** GET and HEAD of ArchiveProgress: follows a job until it has ended. It counts as no stream. @param path in Fastify's syntax */
export function archiveProgressRoute(
  app: FastifyInstance,
  path: string,
  { archiveJobs, stalledClients }: ArchiveProgressDependencies,
): void {
  const watchers = createSemaphore({ permits: MAX_WATCHERS, maxPerClient: MAX_WATCHERS_PER_CLIENT });
  const names = createClientNames();

  app.head<ProgressRequest>(path, async (request, reply) => {
    requireJobId(request.params.jobId);
    return reply.headers(EVENT_STREAM_HEADERS).send();
  });

  app.get<ProgressRequest>(path, async (request, reply) => {
    const jobId = requireJobId(request.params.jobId);
    const since = waitingSince(request.headers['last-event-id']?.toString(), Date.now());
    const held = names.hold(limitedBy(clientOf(request.ip), accessHeaderOf(request)));
    const permit = watchers.tryAcquire(held.name);
    if (!permit) {
      held.release();
      if (watchers.held() >= MAX_WATCHERS) throw new CapacityExceeded('No slot for another watcher', RETRY_SECONDS);
      throw new ClientLimitExceeded('The client has reached its limit of watched archives', RETRY_SECONDS);
    }
    const { raw } = reply;
    const left = new AbortController();
    raw.once('close', () => left.abort());
    if (raw.destroyed) left.abort();
    reply.hijack();
    raw.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...EVENT_STREAM_HEADERS });
    // A client waits for the head before it asks for the archive.
    raw.flushHeaders();
    stalledClients.watch(raw);
    // One that has left is no failure.
    await pipeline(eventsOf(archiveJobs.watch(jobId, since, left.signal)), raw).catch(() => raw.destroy());
    permit.release();
    held.release();
    return reply;
  });
}

function requireJobId(text: string): string {
  const jobId = parseJobId(text);
  if (jobId === undefined) throw new NotFound('The id is blank');
  return jobId;
}

async function* eventsOf(changes: AsyncIterable<ArchiveProgress | undefined>): AsyncGenerator<string> {
  for await (const progress of changes) yield progress ? progressEvent(progress) : COMMENT;
}
