import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createFunctionLog, required } from '../runtime/index.ts';
import { createOriginSecret } from '../stream-host/index.ts';

const log = createFunctionLog();

/** Custom resource: the secret that the edge sends with every request to the API's functions. */
export const handler = createOriginSecret({
  state: createState({ storage: createDynamoDbStorage({ tableName: required(process.env, 'TABLE_NAME') }), log }),
  log,
});
