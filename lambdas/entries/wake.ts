import { ECSClient } from '@aws-sdk/client-ecs';
import type { Context } from 'aws-lambda';
import { createState } from '../../core/state/index.ts';
import type { Event } from '../middleware/index.ts';
import { createFunctionLog, readFunctionEnvironment, required } from '../runtime/index.ts';
import { type AheadEvent, clientBounds, createStartHost, createStreamTasks, createWake } from '../stream-host/index.ts';

const read = (name: string) => required(process.env, name);
const log = createFunctionLog();
const { tableName, origins } = readFunctionEnvironment(process.env);
const cluster = { ecs: new ECSClient(clientBounds), cluster: read('CLUSTER') };

const definition = read('TASK_DEFINITION');

const wake = createWake({
  state: createState({ client: {}, tableName, log }),
  tasks: createStreamTasks(cluster),
  startHost: createStartHost({
    ...cluster,
    taskDefinition: definition,
    containerName: read('CONTAINER_NAME'),
    subnets: read('SUBNETS').split(','),
    securityGroup: read('SECURITY_GROUP'),
  }),
  definition,
  origins,
  log,
});

/** Behind a function URL of its own, and invoked ahead by the resolver. */
export const handler = (event: Event | AheadEvent, context: Context) => {
  log.addContext(context);
  return wake(event, context as never);
};
