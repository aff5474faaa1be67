import type { Task } from '@aws-sdk/client-ecs';

/** An ECS task that runs, ran or will run the stream host. */
export interface HostTask {
  readonly arn: string;
  readonly stage: HostStage;
  /** ARN of the revision of its task definition. */
  readonly definition?: string;
  /** Epoch seconds. */
  readonly createdAt: number;
  /** Epoch seconds; absent before its container runs. */
  readonly runningSince?: number;
  /** Id of the network interface that its public name belongs to. */
  readonly networkInterface?: string;
  /** Id of the subnet of that interface. */
  readonly subnet?: string;
  /** Secret that signs requests from CloudFront to it. */
  readonly secret?: string;
  /** ECS's `stoppedReason`. */
  readonly stopReason?: string;
}

/** `unhealthy` runs but fails its health check; `ending` still holds its network interface; `stopped` has released it. */
export type HostStage = 'starting' | 'running' | 'unhealthy' | 'ending' | 'stopped';

/** The environment variable that carries the secret to the task. */
export const SECRET_VARIABLE = 'ORIGIN_SECRET';

/** Converts a task of DescribeTasks. Undefined for a task without an ARN. */
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
  const details = attachments
    .filter(({ type }) => type === 'ElasticNetworkInterface')
    .flatMap((attachment) => attachment.details ?? []);
  const detail = (key: string) => details.find(({ name }) => name === key)?.value;
  const secret = overrides?.containerOverrides
    ?.flatMap(({ environment = [] }) => environment)
    .find(({ name }) => name === SECRET_VARIABLE)?.value;
  return {
    arn,
    stage: stageOf(task),
    definition,
    createdAt: createdAt ? secondsOf(createdAt) : 0,
    runningSince: startedAt && secondsOf(startedAt),
    networkInterface: detail('networkInterfaceId'),
    subnet: detail('subnetId'),
    secret: secret || undefined,
    stopReason: stoppedReason || undefined,
  };
}

/** Whether the task runs another revision than the deployed one. @param definition ARN of the deployed revision */
export const isOutdated = (task: HostTask, definition: string): boolean =>
  task.definition !== undefined && task.definition !== definition;

/** ECS task lifecycle: PROVISIONING → PENDING → ACTIVATING → RUNNING → DEACTIVATING → … → STOPPED. */
function stageOf({ lastStatus, desiredStatus, healthStatus }: Task): HostStage {
  if (lastStatus === 'STOPPED' || lastStatus === 'DELETED') return 'stopped';
  if (desiredStatus === 'STOPPED') return 'ending';
  if (lastStatus === 'RUNNING') return healthStatus === 'UNHEALTHY' ? 'unhealthy' : 'running';
  return ['PROVISIONING', 'PENDING', 'ACTIVATING'].includes(lastStatus ?? '') ? 'starting' : 'ending';
}

const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000);
