import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/log/index.ts';
import { customResource, type ResourceAnswer } from '../runtime/index.ts';
import type { StreamTasks } from './stream-tasks.ts';

export interface StopTasksOptions {
  readonly tasks: StreamTasks;
  readonly log: Log;
  /** @default 5000 */
  readonly pollIntervalMs?: number;
}

const ANSWER: ResourceAnswer = { physicalId: 'stop-tasks' };

/**
 * A custom resource whose deletion stops the tasks that the wake function has started, which CloudFormation does not know,
 * and waits until none of them holds a network interface: cluster and security group cannot be deleted before. Tasks of a
 * service keep running: after a change of profile they serve while this resource is deleted.
 */
export const createStopTasks = ({ tasks, log, pollIntervalMs: pause = 5_000 }: StopTasksOptions) =>
  customResource({
    log,
    create: async () => ANSWER,
    update: async () => ANSWER,
    delete: async ({ signal }) => {
      for (;;) {
        const running = await tasks.list('RUNNING');
        for (const { arn, stage } of running)
          if (stage !== 'ending' && stage !== 'stopped') await tasks.stop(arn, 'The stack is deleted');
        const left = [...running, ...(await tasks.list('STOPPED'))].filter(({ stage }) => stage !== 'stopped');
        if (left.length === 0) return;
        // Ended by the signal: CloudFormation then reports a timeout, and the deletion can be repeated.
        await sleep(pause, undefined, { signal });
      }
    },
  });
