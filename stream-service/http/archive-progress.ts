import type { FastifyInstance } from 'fastify';
import { EVENT_STREAM_HEADERS, parseJobId, progressEvent, waitingSince } from '../../core/api/index.ts';
import { accessHeaderOf, ownJobId } from '../../core/http/index.ts';
import type { ArchiveProgress } from '../../core/state/index.ts';
import type { ArchiveJobs } from '../outputs/index.ts';
import type { SendEvents } from './event-streams.ts';

interface ProgressRequest {
  Params: { jobId: string };
}

interface ArchiveProgressDependencies {
  readonly archiveJobs: Pick<ArchiveJobs, 'watch'>;
  readonly sendEvents: SendEvents;
}

/** GET and HEAD of ArchiveProgress: follows a job until it has ended. @param path in Fastify's syntax */
export function archiveProgressRoute(
  app: FastifyInstance,
  path: string,
  { archiveJobs, sendEvents }: ArchiveProgressDependencies,
): void {
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
