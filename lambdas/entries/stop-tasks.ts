import { ECSClient } from '@aws-sdk/client-ecs';
import { createFunctionLog, required } from '../runtime/index.ts';
import { clientBounds, createStopTasks, createStreamTasks } from '../stream-host/index.ts';

/** Custom resource: stops the tasks that the wake function has started when the on-demand stream host is deleted. */
export const handler = createStopTasks({
  tasks: createStreamTasks({ ecs: new ECSClient(clientBounds), cluster: required(process.env, 'CLUSTER') }),
  log: createFunctionLog(),
});
