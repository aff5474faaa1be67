import {
  DescribeTasksCommand,
  type DesiredStatus,
  type ECSClient,
  paginateListTasks,
  RunTaskCommand,
  StopTaskCommand,
} from '@aws-sdk/client-ecs';
import { type HostTask, readTask, SECRET_VARIABLE } from './host-task.ts';

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

const RETRY_AFTER_THROTTLING_SECONDS = 5;
const RETRY_AFTER_CAPACITY_SECONDS = 30;

/** ECS cannot start or describe tasks now, and probably can later: throttling, capacity, or no response. */
export class HostUnavailable extends Error {
  override readonly name = 'HostUnavailable';
  /** True when ECS certainly did nothing; false when only its response may have been lost. */
  readonly refused: boolean;
  readonly retryAfterSeconds: number;

  constructor(reason: string, refused: boolean, options?: ErrorOptions) {
    super(reason, options);
    this.refused = refused;
    this.retryAfterSeconds = /capacity|limit/i.test(reason)
      ? RETRY_AFTER_CAPACITY_SECONDS
      : RETRY_AFTER_THROTTLING_SECONDS;
  }
}

/** Names and messages of ECS errors that pass: capacity and throttling. */
const TRANSIENT = /capacity|throttl|rate exceeded|limit/i;

/** Classifies an error of an ECS call: HostUnavailable when it is transient, else the error itself. */
export function asUnavailable(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const description = `${error.name}: ${error.message}`;
  if (TRANSIENT.test(description)) return new HostUnavailable(description, true, { cause: error });
  // A server fault, or a connection without a response: the call may have taken effect.
  const { $fault, code, name } = error as Error & { readonly $fault?: string; readonly code?: string };
  const isUnanswered = $fault === 'server' || code !== undefined || name === 'TimeoutError';
  return isUnanswered ? new HostUnavailable(description, false, { cause: error }) : error;
}

/** The error for `failures` in a response of RunTask. */
export const asRefusal = (reasons: string): Error =>
  TRANSIENT.test(reasons) || reasons.startsWith('RESOURCE')
    ? new HostUnavailable(reasons, true)
    : new Error(`ECS started no task: ${reasons}`);
