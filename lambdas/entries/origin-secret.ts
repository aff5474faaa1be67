import { readVariables, required } from '../../core/config/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createFunctionLog } from '../function-environment.ts';
import { createOriginSecret } from '../origin-secret.ts';

const { tableName } = readVariables(process.env, { tableName: required('TABLE_NAME') });
const log = createFunctionLog();

/** Custom resource: the secret that the edge sends with every request to the API's functions. */
export const handler = createOriginSecret({
  state: createState({ storage: createDynamoDbStorage({ tableName }), log }),
  log,
});
