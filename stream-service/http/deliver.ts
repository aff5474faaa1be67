import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type DeliveryReport, getOperation, problems } from '../../core/api/index.ts';
import { NotFound } from '../../core/errors/index.ts';
import { accessHeaderOf, limitedBy, mergeVary, renderJson } from '../../core/http/index.ts';
import { type Deliveries, parseDeliveryOrder } from '../deliveries/index.ts';
import type { SendEvents } from './event-streams.ts';

export interface DeliverDependencies {
  /** Absent: the host makes none. */
  readonly deliveries?: Deliveries | undefined;
  readonly sendEvents: SendEvents;
}

interface DeliveryRequest {
  Params: { id: string };
}

const MAX_BODY_BYTES = 16 * 1024;
const PATH = getOperation('Deliver').path;

/** POST of Deliver: stores an order. @param path in Fastify's syntax */
export function deliverRoute(app: FastifyInstance, path: string, dependencies: DeliverDependencies): void {
  const errorHandler = (error: unknown) => {
    throw fromFramework(error);
  };
  app.post(path, { bodyLimit: MAX_BODY_BYTES, errorHandler }, async (request, reply) => {
    const { deliveries, client } = requireDeliveries(request, dependencies);
    const id = await deliveries.add(parseDeliveryOrder(request.body), client);
    const events = `${PATH}/${id}`;
    const { headers, body } = renderJson({ id, events }, request.headers.accept);
    const vary = mergeVary(reply.getHeader('vary')?.toString(), headers.vary);
    return reply
      .code(202)
      .headers({ location: events, 'cache-control': 'no-store', ...headers, vary })
      .send(body);
  });
}

/** GET of Delivery follows it, DELETE ends it. @param path in Fastify's syntax */
export function deliveryRoute(app: FastifyInstance, path: string, dependencies: DeliverDependencies): void {
  app.get<DeliveryRequest>(path, async (request, reply) => {
    const { deliveries, client } = requireDeliveries(request, dependencies);
    const left = new AbortController();
    const reports = await deliveries.watch(request.params.id, client, left.signal);
    return dependencies.sendEvents(request, reply, left, eventsOf(reports));
  });
  app.delete<DeliveryRequest>(path, async (request, reply) => {
    const { deliveries, client } = requireDeliveries(request, dependencies);
    await deliveries.cancel(request.params.id, client);
    return reply.code(204).send();
  });
}

/** @throws NotFound unless the request has an access key, and the host makes deliveries */
function requireDeliveries(request: FastifyRequest, { deliveries }: DeliverDependencies) {
  const client = limitedBy('', accessHeaderOf(request));
  if (!deliveries || client === '') throw new NotFound('This instance makes no deliveries');
  return { deliveries, client };
}

/** A body that Fastify itself refuses. */
function fromFramework(error: unknown): unknown {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined;
  if (status === 413) return problems.badBody(413, 'The body has more than 16 KB.');
  if (status === 415) return problems.badBody(415, 'The body must be application/json.');
  return status === 400 ? problems.badRequest('The body is not JSON', error) : error;
}

async function* eventsOf(reports: AsyncIterable<DeliveryReport | undefined>): AsyncGenerator<string | undefined> {
  for await (const report of reports) yield report && `data: ${JSON.stringify(report)}\n\n`;
}
