import { parseLinkParameter, problems } from '../../core/api/index.ts';
import { abortable } from '../../core/concurrency/index.ts';
import { InMaintenance } from '../../core/errors/index.ts';
import { type Log, traceStep } from '../../core/log/index.ts';
import type { Resolver } from '../../core/resolve/index.ts';
import type { State } from '../../core/state/index.ts';
import {
  clientOfEvent,
  createHandler,
  type Event,
  type Handler,
  type HandlerOptions,
  headerOf,
} from '../middleware/index.ts';
import { FIRST_INSTALL } from './get-app-info.ts';
import { toResourceInformation } from './resource-information.ts';

export interface GetResourceOptions extends HandlerOptions {
  readonly resolver: Pick<Resolver, 'resolve'>;
  readonly state: Pick<State, 'getTools' | 'getMaintenance' | 'requireSpace' | 'addRequest'>;
}

/** From the arrival of the request: API Gateway ends a request after 30 s, with a body of its own. */
const RESOLVE_TIMEOUT_MS = 25_000;
/** Delay that a response accepts for being counted. */
const COUNT_TIMEOUT_MS = 2_000;
/** How long an instance counts as available without reading the table again. */
const AVAILABILITY_TTL_MS = 500;

/** GET /api/Fetch/GetResource: metadata and renditions of a link. */
export const createGetResource = ({ resolver, state, ...options }: GetResourceOptions): Handler => {
  const requireAvailable = createMaintenanceCheck(state);
  const isBehindEdge = options.originSecret !== undefined;
  return createHandler(options, async (event, { signal }) => {
    const { rawQueryString, requestContext } = event;
    if (isCrossSiteEmbed(event)) throw problems.crossSite();
    const { link, sent } = parseLinkParameter(rawQueryString);
    await traceStep('availability', async () => {
      await requireAvailable();
      // Before the source is contacted: what cannot be stored has no keys.
      await state.requireSpace();
    });
    // Not from now: API Gateway's 30 s include a cold start of this function.
    const deadline = requestContext.timeEpoch + RESOLVE_TIMEOUT_MS;
    const resolved = await resolver.resolve(link, { deadline, signal, client: clientOfEvent(event, isBehindEdge) });
    await traceStep('count', () => countRequest(state, options.log));
    return { json: toResourceInformation(resolved, sent) };
  });
};

/**
 * Whether another site's page embeds the request as an image, script or the like: it cannot read the response, so that
 * its only effect would be the work (Fetch Metadata).
 */
const isCrossSiteEmbed = (event: Event): boolean =>
  headerOf(event, 'sec-fetch-site') === 'cross-site' && headerOf(event, 'sec-fetch-mode') === 'no-cors';

/** @returns a check that throws InMaintenance while tools are being installed or updated, StateUnavailable without the table */
function createMaintenanceCheck(state: Pick<State, 'getTools' | 'getMaintenance'>): () => Promise<void> {
  let availableUntil = 0;
  return async () => {
    if (performance.now() < availableUntil) return;
    const [lease, tools] = await Promise.all([state.getMaintenance(), state.getTools()]);
    if (lease) throw new InMaintenance(lease.activity);
    if (!tools) throw new InMaintenance(FIRST_INSTALL);
    availableUntil = performance.now() + AVAILABILITY_TTL_MS;
  };
}

/** A counter that fails or hangs does not fail the response. */
async function countRequest(state: Pick<State, 'addRequest'>, log: Log): Promise<void> {
  await abortable(state.addRequest(), AbortSignal.timeout(COUNT_TIMEOUT_MS)).catch((error) =>
    log.warn('Failed to count request', { error }),
  );
}
