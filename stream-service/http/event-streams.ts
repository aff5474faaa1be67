import type { OutgoingHttpHeaders } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { createSemaphore } from '@reelay/concurrency';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { EVENT_STREAM_HEADERS } from '../../core/api/index.ts';
import { CapacityExceeded, ClientLimitExceeded } from '../../core/errors/index.ts';
import { accessHeaderOf, clientOf, createClientNames, limitedBy } from '../../core/http/index.ts';
import type { StalledClients } from './send-body.ts';

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
export type SendEvents = (
  request: FastifyRequest,
  reply: FastifyReply,
  left: AbortController,
  events: AsyncIterable<string | undefined>,
) => Promise<FastifyReply>;

export function createSendEvents(stalledClients: StalledClients): SendEvents {
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
