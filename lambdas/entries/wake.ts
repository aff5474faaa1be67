import { ECSClient } from '@aws-sdk/client-ecs';
import middy from '@middy/core';
import { readVariables, required } from '../../core/config/index.ts';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { routeEvent } from '../middleware/index.ts';
import { createFunctionLog, logContext, readFunctionEnvironment } from '../runtime/index.ts';
import {
  clientBounds,
  createStartHost,
  createStreamTasks,
  createWakeHost,
  createWakeOnEvent,
  createWakeOnStream,
  type WakeAheadEvent,
} from '../stream-host/index.ts';

const log = createFunctionLog();
const { tableName, origins } = readFunctionEnvironment(process.env);
const state = createState({ storage: createDynamoDbStorage({ tableName }), log });
const { cluster, definition, containerName, subnets, securityGroup } = readVariables(process.env, {
  cluster: required('CLUSTER'),
  definition: required('TASK_DEFINITION'),
  containerName: required('CONTAINER_NAME'),
  subnets: required('SUBNETS'),
  securityGroup: required('SECURITY_GROUP'),
});
const ecs = new ECSClient(clientBounds);

const wakeHost = createWakeHost({
  state,
  tasks: createStreamTasks({ ecs, cluster }),
  startHost: createStartHost({
    ecs,
    cluster,
    taskDefinition: definition,
    containerName,
    subnets: subnets.split(','),
    securityGroup,
  }),
  definition,
  log,
});

/** Behind a function URL for streams, and invoked by the functions that expect one soon. */
export const handler = routeEvent({
  http: createWakeOnStream({ state, wakeHost, origins, log, middleware: [logContext(log)] }),
  direct: middy<WakeAheadEvent>().use(logContext(log)).handler(createWakeOnEvent({ wakeHost, log })),
});
