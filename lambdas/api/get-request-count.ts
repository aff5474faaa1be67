import type { Schema } from '../../core/api/index.ts';
import type { State } from '../../core/state/index.ts';
import type { Answer } from '../middleware/index.ts';

export interface GetRequestCountOptions {
  readonly state: Pick<State, 'countRequests'>;
}

/** Background of the badge's message, as a hexadecimal RGB color. */
const COLOR = '9f54e5';

/** GET /api/App/requests: the number of resolves served, as a shields.io endpoint badge. */
export const createGetRequestCount =
  ({ state }: GetRequestCountOptions): Answer =>
  async () => {
    const count = await state.countRequests();
    const json: Schema<'RequestCount'> = {
      schemaVersion: 1,
      label: 'requests',
      message: count.toLocaleString('en-US'),
      color: COLOR,
    };
    return { json, headers: { 'x-request-count': String(count) } };
  };
