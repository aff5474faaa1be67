import {
  DescribeTasksCommand,
  type DesiredStatus,
  type ECSClient,
  paginateListTasks,
  RunTaskCommand,
  StopTaskCommand,
} from '@aws-sdk/client-ecs';
import { type HostTask, readTask, SECRET_VARIABLE } from './host-task.ts';
import { asRefusal, asUnavailable } from './host-unavailable.ts';

export interface StreamTasksOptions {
  readonly ecs: ECSClient;
  readonly cluster: string;
  /** Only tasks of this task definition, whatever its revision. @default all of the cluster */
  readonly family?: string;
}

/** Value of ECS's `startedBy` of every task that the wake function starts; the tasks of a service have `ecs-svc/…`. */
const STARTED_BY = 'wake';

/**
 * The tasks of the cluster that the wake function has started. During a change of profile the cluster also contains the
 * tasks of the balanced stream host's service, which belong to CloudFormation. Every call throws HostUnavailable when ECS
 * fails transiently.
 */
export interface StreamTasks {
  /**
   * Every task with that desired status, and those named, whatever their status. ECS forgets a stopped task after an
   * hour, and may not list a new one at once: name the tasks that you know.
   */
  list(wish: 'RUNNING' | 'STOPPED', named?: readonly string[]): Promise<readonly HostTask[]>;
  stop(arn: string, reason: string): Promise<void>;
}

/** Limit of one DescribeTasks call. */
const MAX_DESCRIBED = 100;

export function createStreamTasks({ ecs, cluster, family }: StreamTasksOptions): StreamTasks {
  const arnsOf = async (desiredStatus: DesiredStatus) => {
    const arns: string[] = [];
    for await (const { taskArns = [] } of paginateListTasks({ client: ecs }, { cluster, family, desiredStatus }))
      arns.push(...taskArns);
    return arns;
  };
  const describe = async (tasks: string[]) => {
    const { tasks: described = [] } = await ecs.send(new DescribeTasksCommand({ cluster, tasks }));
    return described.flatMap((task) => (task.startedBy === STARTED_BY ? (readTask(task) ?? []) : []));
  };

  return {
    list: (wish, named = []) =>
      translateErrors(async () => {
        const known = [...new Set([...named, ...(await arnsOf(wish))])];
        const found: HostTask[] = [];
        for (let at = 0; at < known.length; at += MAX_DESCRIBED)
          found.push(...(await describe(known.slice(at, at + MAX_DESCRIBED))));
        return found;
      }),
    stop: (arn, reason) =>
      translateErrors(async () => {
        await ecs.send(new StopTaskCommand({ cluster, task: arn, reason }));
      }),
  };
}

export interface HostStarterOptions {
  readonly ecs: ECSClient;
  readonly cluster: string;
  readonly taskDefinition: string;
  readonly containerName: string;
  /** Public: the task has no other route to the internet. */
  readonly subnets: readonly string[];
  readonly securityGroup: string;
}

/**
 * Starts one task, which accepts requests with `secret`, and returns its ARN. Idempotent by `token`.
 * @throws HostUnavailable
 */
export type StartHost = (order: { readonly token: string; readonly secret: string }) => Promise<string>;

export const createStartHost =
  ({ ecs, cluster, taskDefinition, containerName, subnets, securityGroup }: HostStarterOptions): StartHost =>
  async ({ token, secret }) => {
    const command = new RunTaskCommand({
      cluster,
      taskDefinition,
      launchType: 'FARGATE',
      count: 1,
      clientToken: token,
      startedBy: STARTED_BY,
      networkConfiguration: {
        awsvpcConfiguration: { subnets: [...subnets], securityGroups: [securityGroup], assignPublicIp: 'ENABLED' },
      },
      overrides: {
        containerOverrides: [{ name: containerName, environment: [{ name: SECRET_VARIABLE, value: secret }] }],
      },
    });
    const { tasks = [], failures = [] } = await translateErrors(() => ecs.send(command));
    const arn = tasks[0]?.taskArn;
    if (arn) return arn;
    throw asRefusal(failures.map(({ reason, detail }) => [reason, detail].filter(Boolean).join(': ')).join(', '));
  };

/** @throws HostUnavailable for transient errors, and other errors unchanged */
async function translateErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** Retries and timeouts of AWS clients. Short, since a stream waits for every call. */
export const clientBounds = {
  maxAttempts: 2,
  /** Milliseconds. */
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
} as const;
