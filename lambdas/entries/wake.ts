import { ECSClient } from '@aws-sdk/client-ecs';
import middy from '@middy/core';
import { createDynamoDbStorage } from '../../core/state/dynamodb/index.ts';
import { createState } from '../../core/state/index.ts';
import { logContext, routeEvent } from '../middleware/index.ts';
import { createFunctionLog, readFunctionEnvironment, required } from '../runtime/index.ts';
import {
  clientBounds,
  createStartHost,
  createStreamTasks,
  createWakeHost,
  createWakeOnEvent,
  createWakeOnStream,
  type WakeAheadEvent,
} from '../stream-host/index.ts';

const read = (name: string) => required(process.env, name);
const log = createFunctionLog();
const { tableName, origins } = readFunctionEnvironment(process.env);
const state = createState({ storage: createDynamoDbStorage({ tableName }), log });
const cluster = { ecs: new ECSClient(clientBounds), cluster: read('CLUSTER') };
const definition = read('TASK_DEFINITION');

const wakeHost = createWakeHost({
  state,
  tasks: createStreamTasks(cluster),
  startHost: createStartHost({
    ...cluster,
    taskDefinition: definition,
    containerName: read('CONTAINER_NAME'),
    subnets: read('SUBNETS').split(','),
    securityGroup: read('SECURITY_GROUP'),
  }),
  definition,
  log,
});

/** Behind a function URL for streams, and invoked by the functions that expect one soon. */
export const handler = routeEvent({
  http: createWakeOnStream({ state, wakeHost, origins, log, middleware: [logContext(log)] }),
  direct: middy<WakeAheadEvent>().use(logContext(log)).handler(createWakeOnEvent({ wakeHost, log })),
});
