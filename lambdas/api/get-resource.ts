import { setTimeout } from 'node:timers/promises';
import { parseLinkParameter, problems } from '../../core/api/index.ts';
import { StateUnavailable } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Resolver } from '../../core/resolve/index.ts';
import { toResourceInformation } from '../../core/resolve/response/index.ts';
import type { State } from '../../core/state/index.ts';
import { createHandler, type Handler, type HandlerOptions } from '../middleware/index.ts';
import { FIRST_FETCH } from './get-app-info.ts';

export interface GetResourceOptions extends HandlerOptions {
  readonly extraction: Pick<Resolver, 'resolve'>;
  readonly state: Pick<State, 'getTools' | 'getMaintenance' | 'addRequest'>;
}

/** Milliseconds from the request's arrival: API Gateway cuts at 30 s, with a body of its own. */
const DEADLINE = 25_000;

/** Milliseconds that an answer waits for its own count. */
const COUNT_PATIENCE = 2_000;

/** Milliseconds for which an instance that is available counts as such without another look. */
const AVAILABLE_FOR = 500;

/** GET /api/Fetch/GetResource: a link's metadata and renditions. */
export const createGetResource = ({ extraction, state, ...options }: GetResourceOptions): Handler => {
  const refuseInMaintenance = createMaintenanceCheck(state);
  return createHandler(options, async ({ rawQueryString, requestContext }) => {
    const { link, sent } = parseLinkParameter(rawQueryString);
    await refuseInMaintenance();
    // From its arrival at the front door: a cold start has eaten into it already.
    const deadline = requestContext.timeEpoch + DEADLINE;
    const resolved = await extraction.resolve(link, { deadline }).catch(unlessStateIsGone);
    await count(state, options.log);
    return { json: toResourceInformation(resolved, sent) };
  });
};

/** The check throws Problem 503 while tools are fetched or updated, 502 when the table does not say. */
function createMaintenanceCheck(state: Pick<State, 'getTools' | 'getMaintenance'>): () => Promise<void> {
  let availableUntil = 0;
  return async () => {
    if (performance.now() < availableUntil) return;
    const [lease, tools] = await Promise.all([state.getMaintenance(), state.getTools()]).catch((error) => {
      throw problems.fetchFailed(error);
    });
    if (lease) throw problems.maintenance(lease.activity);
    if (!tools) throw problems.maintenance(FIRST_FETCH);
    availableUntil = performance.now() + AVAILABLE_FOR;
  };
}

function unlessStateIsGone(error: unknown): never {
  throw error instanceof StateUnavailable ? problems.fetchFailed(error) : error;
}

/** A counter that fails, or hangs, takes nothing from the answer. */
async function count(state: Pick<State, 'addRequest'>, log: Log): Promise<void> {
  const impatience = setTimeout(COUNT_PATIENCE, undefined, { ref: false }).then(() => {
    throw new Error('The table is slow');
  });
  await Promise.race([state.addRequest(), impatience]).catch((error) =>
    log.warn('A request was not counted', { error: String(error) }),
  );
}
