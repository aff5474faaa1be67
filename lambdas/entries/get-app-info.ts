import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createGetAppInfo } from '../api/index.ts';
import { createFunctionLog, readFunctionEnvironment } from '../runtime/index.ts';

const log = createFunctionLog();
const environment = readFunctionEnvironment(process.env);
const state = createState({ storage: createDynamoDbStorage(environment), log });

export const handler = createGetAppInfo({ ...environment, state, log });
