import { createState } from '../../layers/state/index.ts';
import { methodsOf, readFunctionEnvironment } from '../function-environment.ts';
import { createGetAppInfo } from '../get-app-info.ts';
import { createFunctionLog } from '../powertools/log.ts';

const log = createFunctionLog();
const environment = readFunctionEnvironment(process.env);
const state = createState({ client: {}, tableName: environment.tableName, log });

export const handler = createGetAppInfo({ ...environment, state, methods: methodsOf('GetAppInfo'), log });
