import { ECSClient } from '@aws-sdk/client-ecs';
import { readVariables, required } from '../../core/config/index.ts';
import { createFunctionLog } from '../runtime/index.ts';
import { clientBounds, createStopTasks, createStreamTasks } from '../stream-host/index.ts';

const { cluster } = readVariables(process.env, { cluster: required('CLUSTER') });

/** Custom resource: stops the tasks that the wake function has started when the on-demand stream host is deleted. */
export const handler = createStopTasks({
  tasks: createStreamTasks({ ecs: new ECSClient(clientBounds), cluster }),
  log: createFunctionLog(),
});
