import { problems, type RequestCount } from '../../core/api/index.ts';
import type { State } from '../../core/state/index.ts';
import { createHandler, type Handler, type HandlerOptions } from '../middleware/index.ts';

export interface GetRequestCountOptions extends HandlerOptions {
  readonly state: Pick<State, 'countRequests'>;
}

const COLOR = '9f54e5';

/** GET /api/App/requests: resolves served, as a shields.io endpoint badge. @throws Problem 502 without the table */
export const createGetRequestCount = ({ state, ...options }: GetRequestCountOptions): Handler =>
  createHandler(options, async () => {
    const count = await state.countRequests().catch((error) => {
      throw problems.fetchFailed(error);
    });
    const json: RequestCount = {
      schemaVersion: 1,
      label: 'requests',
      message: count.toLocaleString('en-US'),
      color: COLOR,
    };
    return { json, headers: { 'x-request-count': String(count) } };
  });
