import { createState } from '../../core/state/index.ts';
import { createFunctionLog, required } from '../runtime/index.ts';
import { createOriginSecret } from '../stream-host/index.ts';

const log = createFunctionLog();

/** A custom resource of the stack: what the edge and the functions of the API know each other by. */
export const handler = createOriginSecret({
  state: createState({ client: {}, tableName: required(process.env, 'TABLE_NAME'), log }),
  log,
});
