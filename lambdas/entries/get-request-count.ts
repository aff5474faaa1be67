import { createState } from '../../layers/state/index.ts';
import { methodsOf, readFunctionEnvironment } from '../function-environment.ts';
import { createGetRequestCount } from '../get-request-count.ts';
import { createFunctionLog } from '../powertools/log.ts';

const log = createFunctionLog();
const environment = readFunctionEnvironment(process.env);
const state = createState({ client: {}, tableName: environment.tableName, log });

export const handler = createGetRequestCount({ ...environment, state, methods: methodsOf('GetRequestCount'), log });
