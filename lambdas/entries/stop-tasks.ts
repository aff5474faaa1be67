import { ECSClient } from '@aws-sdk/client-ecs';
import { required } from '../function-environment.ts';
import { clientBounds } from '../on-demand/client-bounds.ts';
import { createStreamTasks } from '../on-demand/stream-tasks.ts';
import { createFunctionLog } from '../powertools/log.ts';
import { createStopTasks } from '../stop-tasks.ts';

/** A custom resource of the stack: nothing of the cluster runs once it is deleted. */
export const handler = createStopTasks({
  tasks: createStreamTasks({ ecs: new ECSClient(clientBounds), cluster: required(process.env, 'CLUSTER') }),
  log: createFunctionLog(),
});
