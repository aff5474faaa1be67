import type { Log } from '../../core/log/index.ts';
import type { HostStore } from './host-store.ts';
import { type HostTask, isOutdated } from './host-task.ts';
import type { PublicNames } from './public-names.ts';
import { planRegistration, type RegistrationPlan } from './registration.ts';
import type { StreamTasks } from './stream-tasks.ts';

export interface RegisterOptions {
  readonly tasks: Pick<StreamTasks, 'list' | 'stop'>;
  readonly publicNames: PublicNames;
  readonly store: HostStore;
  /** ARN of the revision of the task definition that is deployed. */
  readonly definition: string;
  /** Has whoever starts hosts look whether one is needed. */
  readonly wakeAhead: () => Promise<unknown>;
  readonly log: Log;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** `ECS Task State Change` of EventBridge, as far as it is looked at; or anything else, such as a schedule's event. */
export interface RegisterEvent {
  readonly detail?: { readonly taskArn?: string; readonly desiredStatus?: string; readonly lastStatus?: string };
}

const ATTEMPTS = 5;
const REASON = 'No request comes to this stream host';

/** What this instance of the function wrote last: often still so, and always checked before it is changed. */
interface Memory {
  readonly version: string;
  readonly value: string | undefined;
  /** The task with whose end the value was removed. */
  readonly ended?: string;
}

/**
 * Makes the key-value store say what runs. An event is only a hint to look now: whatever came to pass before is put right
 * too, so that a lost event is healed by the next one, and at the latest by the schedule. While nothing runs the schedule
 * leaves the store alone, which costs by the call: what an end that nobody heard of has left there runs out by itself.
 * A host that no request comes to is stopped: nobody else would. One that serves what was deployed before is succeeded, also
 * where streams alone keep it awake.
 * @throws Error when others change the store each time; whoever calls tries again
 */
export function createRegister(options: RegisterOptions) {
  const { tasks, publicNames, store, definition, wakeAhead, log, now = Date.now } = options;
  let memory: Memory | undefined;

  const look = async (arn: string | undefined, ended: string | undefined): Promise<RegistrationPlan> => {
    // The event may know of an end before ECS tells whoever asks.
    const listed = await tasks.list('RUNNING', arn === undefined ? [] : [arn]);
    const found = listed.filter((task) => task.arn !== ended);
    const running = found.filter(({ stage }) => stage === 'running');
    const names = await publicNames(running.flatMap(({ networkInterface }) => networkInterface ?? []));
    return planRegistration({ tasks: found, names, record: recall(ended), now: Math.floor(now() / 1000) });
  };
  /** Another instance of the function may have registered a task since: its end has to reach the store. */
  const recall = (ended: string | undefined) => {
    const isForgotten = !memory || (memory.value === undefined && ended !== undefined && memory.ended !== ended);
    if (isForgotten) return ended === undefined ? 'unknown' : 'unwanted';
    return { value: memory?.value };
  };

  const reconcile = async ({ detail = {} }: RegisterEvent): Promise<RegistrationPlan> => {
    const ended = isEnd(detail) ? detail.taskArn : undefined;
    let version = memory?.version;
    for (let attempt = 0; attempt <= ATTEMPTS; attempt++) {
      const plan = await look(detail.taskArn, ended);
      if (plan.change.kind === 'keep') return plan;
      const value = plan.change.kind === 'write' ? plan.change.value : undefined;
      // The version is older than the look, so that no look of yesterday overwrites what another one saw today.
      const written = version && (await store.write(value, version));
      memory = written ? { version: written, value, ...(ended && { ended }) } : undefined;
      if (written) return plan;
      version = await store.version();
    }
    throw new Error('The key-value store was changed by somebody else each time');
  };

  return async (event: RegisterEvent): Promise<{ readonly change: RegistrationPlan['change']['kind'] }> => {
    const plan = await reconcile(event).catch((error: unknown) => {
      memory = undefined;
      throw error;
    });
    report(plan, log);
    for (const { arn } of plan.surplus)
      await tasks
        .stop(arn, REASON)
        // The next turn finds it again.
        .catch((error) => log.warn('A stream host could not be stopped', { task: arn, error: String(error) }));
    if (plan.serving && isOutdated(plan.serving, definition))
      await wakeAhead().catch((error) => log.warn('No successor could be asked for', { error: String(error) }));
    return { change: plan.change.kind };
  };
}

const isEnd = ({ desiredStatus, lastStatus }: NonNullable<RegisterEvent['detail']>): boolean =>
  desiredStatus === 'STOPPED' || lastStatus === 'STOPPED';

function report({ change, serving, idle, unreachable }: RegistrationPlan, log: Log): void {
  const arns = (tasks: readonly HostTask[]) => tasks.map(({ arn }) => arn);
  if (change.kind !== 'keep')
    log.info('The registration of the stream host changes', { change: change.kind, task: serving?.arn });
  if (idle.length > 0)
    log.warn('More than one stream host runs: the newest serves, the others end', { tasks: arns(idle) });
  if (unreachable.length > 0)
    log.warn('A stream host runs that is sick or cannot be reached: it gets no requests', { tasks: arns(unreachable) });
}
