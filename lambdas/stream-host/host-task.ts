import type { Task } from '@aws-sdk/client-ecs';

/** One task of ECS that is, was or becomes the stream host. */
export interface HostTask {
  readonly arn: string;
  readonly stage: HostStage;
  /** ARN of the revision of its task definition: another one was deployed when it started than now where they differ. */
  readonly definition?: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** Epoch seconds; absent before its container runs. */
  readonly runningSince?: number;
  /** Id of the network interface that its public name belongs to. */
  readonly networkInterface?: string;
  /** What it asks of CloudFront. */
  readonly secret?: string;
  /** In ECS's words. */
  readonly stopReason?: string;
}

/** `unhealthy` runs and fails its own health check; `ending` still holds its network; `stopped` holds nothing. */
export type HostStage = 'starting' | 'running' | 'unhealthy' | 'ending' | 'stopped';

/** The environment variable that carries the secret to the task. */
export const SECRET_VARIABLE = 'ORIGIN_SECRET';

/** A task as ECS describes it. Undefined for one without an ARN: there is nothing to do with it. */
export function readTask(task: Task): HostTask | undefined {
  const {
    taskArn: arn,
    taskDefinitionArn: definition,
    createdAt,
    startedAt,
    attachments = [],
    overrides,
    stoppedReason,
  } = task;
  if (!arn) return undefined;
  const networkInterface = attachments
    .filter(({ type }) => type === 'ElasticNetworkInterface')
    .flatMap(({ details = [] }) => details)
    .find(({ name }) => name === 'networkInterfaceId')?.value;
  const secret = overrides?.containerOverrides
    ?.flatMap(({ environment = [] }) => environment)
    .find(({ name }) => name === SECRET_VARIABLE)?.value;
  return {
    arn,
    stage: stageOf(task),
    ...(definition && { definition }),
    createdAt: createdAt ? secondsOf(createdAt) : 0,
    ...(startedAt && { runningSince: secondsOf(startedAt) }),
    ...(networkInterface && { networkInterface }),
    ...(secret && { secret }),
    ...(stoppedReason && { stopReason: stoppedReason }),
  };
}

/** Whether it runs what was deployed before. @param definition ARN of the revision that is deployed */
export const isOutdated = (task: HostTask, definition: string): boolean =>
  task.definition !== undefined && task.definition !== definition;

/** The life of a task: PROVISIONING → PENDING → ACTIVATING → RUNNING → DEACTIVATING → … → STOPPED (ECS, task life cycle). */
function stageOf({ lastStatus, desiredStatus, healthStatus }: Task): HostStage {
  if (lastStatus === 'STOPPED' || lastStatus === 'DELETED') return 'stopped';
  if (desiredStatus === 'STOPPED') return 'ending';
  if (lastStatus === 'RUNNING') return healthStatus === 'UNHEALTHY' ? 'unhealthy' : 'running';
  return ['PROVISIONING', 'PENDING', 'ACTIVATING'].includes(lastStatus ?? '') ? 'starting' : 'ending';
}

const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000);
