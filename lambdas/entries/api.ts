import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createAppAnswers, createGetApiDescription } from '../api/index.ts';
import { routeOperations } from '../middleware/index.ts';
import { createFunctionLog, readFunctionEnvironment } from '../runtime/index.ts';

const log = createFunctionLog();
const environment = readFunctionEnvironment(process.env);
const state = createState({ storage: createDynamoDbStorage(environment), log });
// The deployment package contains the assets next to the bundle.
const options = { ...environment, state, log, assetsDir: import.meta.dirname };

/** Everything of the HTTP API that does not resolve. */
export const handler = routeOperations(createAppAnswers(options), options, createGetApiDescription(options));
