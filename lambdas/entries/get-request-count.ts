import { getOperation } from '../../core/api/index.ts';
import { createState } from '../../core/state/index.ts';
import { createGetRequestCount } from '../api/index.ts';
import { createFunctionLog, readFunctionEnvironment } from '../runtime/index.ts';

const log = createFunctionLog();
const environment = readFunctionEnvironment(process.env);
const state = createState({ client: {}, tableName: environment.tableName, log });

export const handler = createGetRequestCount({
  ...environment,
  state,
  methods: getOperation('GetRequestCount').methods,
  log,
});
