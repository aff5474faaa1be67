import { DescribeNetworkInterfacesCommand, type EC2Client } from '@aws-sdk/client-ec2';
import type { Log } from '../../core/log/index.ts';
import type { HostStore } from './host-store.ts';
import { type HostTask, isOutdated } from './host-task.ts';
import { planRegistration, type RegistrationPlan, type RegistrationState } from './registration.ts';
import type { StreamTasks } from './stream-tasks.ts';

export interface RegisterOptions {
  readonly tasks: Pick<StreamTasks, 'list' | 'stop'>;
  readonly publicNames: PublicNames;
  readonly store: HostStore;
  /** ARN of the deployed revision of the task definition. */
  readonly definition: string;
  /** Invokes the wake function, which starts a host where one is needed. */
  readonly wakeAhead: () => Promise<unknown>;
  readonly log: Log;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** The fields that are read of EventBridge's `ECS Task State Change`; events of a schedule have none of them. */
export interface RegisterEvent {
  readonly detail?: { readonly taskArn?: string; readonly desiredStatus?: string; readonly lastStatus?: string };
}

const MAX_WRITE_RETRIES = 5;
const STOP_REASON = 'This stream host gets no requests';

/**
 * The last write of this execution environment. Other environments write too: its version is a precondition of each
 * write.
 */
interface LastWrite {
  readonly version: string;
  readonly value: string | undefined;
  /** The task whose end was the reason for the write. */
  readonly endedTask?: string;
}

/**
 * Reconciles the key-value store with the tasks that run. An event only triggers it: the plan comes from ECS, so that the
 * next event, or the schedule, repairs what a lost event left behind. While no host runs the schedule does not call the
 * store, whose calls are billed: a stale registration expires by itself. Hosts that get no requests are stopped here, since
 * nothing else would stop them. An outdated host gets a successor, also when streams keep it from becoming idle.
 * @returns the handler. It throws an Error when concurrent writes win every attempt: EventBridge then retries the event
 */
export function createRegister(options: RegisterOptions) {
  const { tasks, publicNames, store, definition, wakeAhead, log, now = Date.now } = options;
  let lastWrite: LastWrite | undefined;

  const plan = async (arn: string | undefined, endedTask: string | undefined): Promise<RegistrationPlan> => {
    // ECS's reads are eventually consistent: an event may report the end of a task that is still listed as running.
    const listed = await tasks.list('RUNNING', arn === undefined ? [] : [arn]);
    const found = listed.filter((task) => task.arn !== endedTask);
    const running = found.filter(({ stage }) => stage === 'running');
    const names = await publicNames(running.flatMap(({ networkInterface }) => networkInterface ?? []));
    return planRegistration({ tasks: found, names, record: knownRecord(endedTask), now: Math.floor(now() / 1000) });
  };
  /** Another execution environment may have registered the ended task: its registration has to be removed. */
  const knownRecord = (endedTask: string | undefined): RegistrationState['record'] => {
    const isOutOfDate =
      !lastWrite || (lastWrite.value === undefined && endedTask !== undefined && lastWrite.endedTask !== endedTask);
    if (isOutOfDate) return endedTask === undefined ? 'unknown' : 'stale';
    return { value: lastWrite?.value };
  };

  const reconcile = async ({ detail = {} }: RegisterEvent): Promise<RegistrationPlan> => {
    const endedTask = isEnd(detail) ? detail.taskArn : undefined;
    let version = lastWrite?.version;
    for (let attempt = 0; attempt <= MAX_WRITE_RETRIES; attempt++) {
      const planned = await plan(detail.taskArn, endedTask);
      if (planned.change.kind === 'keep') return planned;
      const value = planned.change.kind === 'write' ? planned.change.value : undefined;
      // The version was read before the tasks, so that an older plan cannot overwrite the write of a newer one.
      const written = version && (await store.write(value, version));
      lastWrite = written ? { version: written, value, endedTask } : undefined;
      if (written) return planned;
      version = await store.version();
    }
    throw new Error('Key-value store changed concurrently on every attempt');
  };

  return async (event: RegisterEvent): Promise<{ readonly change: RegistrationPlan['change']['kind'] }> => {
    const registration = await reconcile(event).catch((error: unknown) => {
      lastWrite = undefined;
      throw error;
    });
    logChanges(registration, log);
    for (const { arn } of registration.surplus)
      await tasks
        .stop(arn, STOP_REASON)
        // The next event or the schedule tries again.
        .catch((error) => log.warn('Failed to stop stream host', { task: arn, error }));
    if (registration.serving && isOutdated(registration.serving, definition))
      await wakeAhead().catch((error) => log.warn('Failed to request a successor of the stream host', { error }));
    return { change: registration.change.kind };
  };
}

const isEnd = ({ desiredStatus, lastStatus }: NonNullable<RegisterEvent['detail']>): boolean =>
  desiredStatus === 'STOPPED' || lastStatus === 'STOPPED';

function logChanges({ change, serving, idle, unreachable }: RegistrationPlan, log: Log): void {
  const arns = (tasks: readonly HostTask[]) => tasks.map(({ arn }) => arn);
  if (change.kind !== 'keep') log.info('Stream host registration changed', { change: change.kind, task: serving?.arn });
  if (idle.length > 0) log.warn('Stopping stream hosts other than the newest', { tasks: arns(idle) });
  if (unreachable.length > 0) log.warn('Stream host unhealthy or unreachable', { tasks: arns(unreachable) });
}

/** Public DNS names by network interface, without interfaces that are deleted or have none. */
export type PublicNames = (networkInterfaces: readonly string[]) => Promise<ReadonlyMap<string, string>>;

export const createPublicNames =
  (ec2: EC2Client): PublicNames =>
  async (networkInterfaces) => {
    if (networkInterfaces.length === 0) return new Map();
    // A filter instead of NetworkInterfaceIds, which fails the whole call for one deleted interface.
    const Filters = [{ Name: 'network-interface-id', Values: [...networkInterfaces] }];
    const { NetworkInterfaces = [] } = await ec2.send(new DescribeNetworkInterfacesCommand({ Filters }));
    return new Map(
      NetworkInterfaces.flatMap(({ NetworkInterfaceId: id, Association }) =>
        id && Association?.PublicDnsName ? [[id, Association.PublicDnsName] as const] : [],
      ),
    );
  };
