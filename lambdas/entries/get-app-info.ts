import { getOperation } from '../../core/api/index.ts';
import { createState } from '../../core/state/index.ts';
import { createGetAppInfo } from '../api/index.ts';
import { createFunctionLog, readFunctionEnvironment } from '../runtime/index.ts';

const log = createFunctionLog();
const environment = readFunctionEnvironment(process.env);
const state = createState({ client: {}, tableName: environment.tableName, log });

export const handler = createGetAppInfo({ ...environment, state, methods: getOperation('GetAppInfo').methods, log });
