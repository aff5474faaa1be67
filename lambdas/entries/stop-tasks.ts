import { ECSClient } from '@aws-sdk/client-ecs';
import { createFunctionLog, required } from '../runtime/index.ts';
import { clientBounds, createStopTasks, createStreamTasks } from '../stream-host/index.ts';

/** A custom resource of the stack: nothing of the cluster runs once it is deleted. */
export const handler = createStopTasks({
  tasks: createStreamTasks({ ecs: new ECSClient(clientBounds), cluster: required(process.env, 'CLUSTER') }),
  log: createFunctionLog(),
});
