import type { Log } from '../layers/contract/index.ts';
import type { HostStore } from './on-demand/host-store.ts';
import type { HostTask } from './on-demand/host-task.ts';
import type { PublicNames } from './on-demand/public-names.ts';
import { planRegistration, type RegistrationPlan } from './on-demand/registration.ts';
import type { StreamTasks } from './on-demand/stream-tasks.ts';

export interface RegisterOptions {
  readonly tasks: Pick<StreamTasks, 'list'>;
  readonly publicNames: PublicNames;
  readonly store: HostStore;
  readonly log: Log;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** `ECS Task State Change` of EventBridge, as far as it is looked at; or anything else, such as a schedule's event. */
export interface RegisterEvent {
  readonly detail?: { readonly taskArn?: string; readonly desiredStatus?: string; readonly lastStatus?: string };
}

const ATTEMPTS = 5;

/**
 * Makes the key-value store say what runs. An event is only a hint to look now: whatever came to pass before is put right
 * too, so that a lost event is healed by the next one, and at the latest by the schedule.
 * @throws Error when others change the store each time; whoever calls tries again
 */
export function createRegister({ tasks, publicNames, store, log, now = Date.now }: RegisterOptions) {
  const reconcile = async ({ detail = {} }: RegisterEvent): Promise<RegistrationPlan | undefined> => {
    const record = await store.read();
    const { taskArn } = detail;
    const known = (await tasks.list('RUNNING', taskArn === undefined ? [] : [taskArn])).filter(
      // The event may know of an end before ECS tells whoever asks.
      ({ arn }) => arn !== taskArn || (detail.desiredStatus !== 'STOPPED' && detail.lastStatus !== 'STOPPED'),
    );
    const interfaces = known.flatMap(({ stage, networkInterface }) =>
      stage === 'running' ? (networkInterface ?? []) : [],
    );
    const names = await publicNames(interfaces);
    const plan = planRegistration({ tasks: known, names, record: record.value, now: Math.floor(now() / 1000) });
    if (plan.change.kind === 'keep') return plan;
    const value = plan.change.kind === 'write' ? plan.change.value : undefined;
    return (await store.write(value, record.version)) ? plan : undefined;
  };

  return async (event: RegisterEvent): Promise<{ readonly change: RegistrationPlan['change']['kind'] }> => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const plan = await reconcile(event);
      if (!plan) continue;
      report(plan, log);
      return { change: plan.change.kind };
    }
    throw new Error('The key-value store was changed by somebody else each time');
  };
}

function report({ change, serving, idle, unreachable }: RegistrationPlan, log: Log): void {
  const arns = (tasks: readonly HostTask[]) => tasks.map(({ arn }) => arn);
  if (change.kind !== 'keep')
    log.info('The registration of the stream host changes', { change: change.kind, task: serving?.arn });
  if (idle.length > 0)
    log.warn('More than one stream host runs: the newest serves, the others end when idle', { tasks: arns(idle) });
  if (unreachable.length > 0)
    log.warn('A stream host runs that is sick or cannot be reached: it gets no requests', { tasks: arns(unreachable) });
}
