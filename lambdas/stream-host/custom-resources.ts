import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';
import { customResource, type ResourceAnswer, type ResourceRequest } from '../runtime/index.ts';
import type { HostTask } from './host-task.ts';
import type { StreamTasks } from './stream-tasks.ts';

export interface StopTasksOptions {
  readonly tasks: StreamTasks;
  readonly log: Log;
  /** @default 5000 */
  readonly pollIntervalMs?: number;
}

/** Another id for other subnets: the deletion of the former resource stops the tasks that hold the former subnets. */
const identify = ({ properties }: Pick<ResourceRequest, 'properties'>): ResourceAnswer => ({
  physicalId: `stop-tasks ${properties.subnets}`,
});

/**
 * A custom resource whose deletion stops the tasks that the wake function has started in the subnets of its properties,
 * which CloudFormation does not know, and waits until none of them holds a network interface: until then, cluster and
 * security group cannot be deleted. Tasks of a service keep running: after a change of profile they serve while this
 * resource is deleted.
 */
export const createStopTasks = ({ tasks, log, pollIntervalMs: pause = 5_000 }: StopTasksOptions) =>
  customResource({
    log,
    create: async (request) => identify(request),
    update: async (request) => identify(request),
    delete: async ({ signal, properties }) => {
      const subnets = String(properties.subnets).split(',');
      // A task that is placed elsewhere belongs to the resource that replaced this one.
      const isHere = ({ subnet }: HostTask) => subnet === undefined || subnets.includes(subnet);
      for (;;) {
        const running = (await tasks.list('RUNNING')).filter(isHere);
        for (const { arn, stage } of running)
          if (stage !== 'ending' && stage !== 'stopped') await tasks.stop(arn, 'The stack is deleted');
        const stopped = (await tasks.list('STOPPED')).filter(isHere);
        const left = [...running, ...stopped].filter(({ stage }) => stage !== 'stopped');
        if (left.length === 0) return;
        // Ended by the signal: CloudFormation then reports a timeout, and the deletion can be repeated.
        await sleep(pause, undefined, { signal });
      }
    },
  });

export interface OriginSecretOptions {
  readonly state: Pick<State, 'rotateOriginSecret'>;
  readonly log: Log;
}

const BYTES = 32;
/** Length of `Revision` in characters. */
const REVISION_LENGTH = 16;

/**
 * A custom resource with the secret that CloudFront sends to the API's functions. It changes only with the property
 * `rotation`. Attributes: `Secret` for the edge; `Accepted` for the functions, a comma list of it and the previous one,
 * since edge locations take a new secret minutes apart; `Revision`, which changes with `Accepted` and reveals nothing
 * about it.
 */
export function createOriginSecret({ state, log }: OriginSecretOptions) {
  const provide = async ({ properties }: Pick<ResourceRequest, 'properties'>) => {
    const candidate = randomBytes(BYTES).toString('base64url');
    const { current, previous } = await state.rotateOriginSecret(String(properties.rotation), candidate);
    const accepted = [current, ...(previous === undefined ? [] : [previous])].join(',');
    const revision = createHash('sha256').update(accepted).digest('hex').slice(0, REVISION_LENGTH);
    return {
      physicalId: 'origin-secret',
      data: { Secret: current, Accepted: accepted, Revision: revision },
      noEcho: true,
    };
  };
  // The table holds the secrets and is deleted with the stack.
  return customResource({ log, create: provide, update: provide, delete: async () => undefined });
}
