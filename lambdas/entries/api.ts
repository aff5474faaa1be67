import { createOriginSecretCheck } from '../../core/http/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { createAppHandlers, createGetApiDescription } from '../api/index.ts';
import { createFunctionLog, readFunctionEnvironment } from '../function-environment.ts';
import { routeOperations } from '../http-handler.ts';

const log = createFunctionLog();
const environment = readFunctionEnvironment(process.env);
const state = createState({ storage: createDynamoDbStorage(environment), log });
// The deployment package contains the assets next to the bundle.
const isFromEdge = createOriginSecretCheck(state.getOriginSecrets);
const options = { ...environment, isFromEdge, state, log, assetsDir: import.meta.dirname };

/** Everything of the HTTP API that does not resolve. */
export const handler = routeOperations(createAppHandlers(options), options, createGetApiDescription(options));
