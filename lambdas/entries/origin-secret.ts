import { createState } from '../../layers/state/index.ts';
import { required } from '../function-environment.ts';
import { createOriginSecret } from '../origin-secret.ts';
import { createFunctionLog } from '../powertools/log.ts';

const log = createFunctionLog();

/** A custom resource of the stack: what the edge and the functions of the API know each other by. */
export const handler = createOriginSecret({
  state: createState({ client: {}, tableName: required(process.env, 'TABLE_NAME'), log }),
  log,
});
