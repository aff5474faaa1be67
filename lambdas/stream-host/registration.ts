import type { HostTask } from './host-task.ts';

/** The name under which the edge function looks for the host. */
export const HOST_KEY = 'host';

/** Seconds that a registration holds, and the rest of it at which it is renewed: the schedule comes every ten minutes. */
const LEASE_SECONDS = 25 * 60;
const RENEW_BELOW_SECONDS = 20 * 60;
/** Seconds that a host may run before its public name shows: EC2's reads are eventually consistent. */
const SETTLE_SECONDS = 5 * 60;

/** What is, when the registration is looked at. */
export interface RegistrationState {
  readonly tasks: readonly HostTask[];
  /** Public names by network interface. */
  readonly names: ReadonlyMap<string, string>;
  /** What the key-value store has; `unwanted`: whatever it has is to go, where no host runs. */
  readonly record: { readonly value: string | undefined } | 'unknown' | 'unwanted';
  /** Epoch seconds. */
  readonly now: number;
}

export interface RegistrationPlan {
  readonly change: { readonly kind: 'write'; readonly value: string } | { readonly kind: 'delete' | 'keep' };
  /** The host that the edge is to send requests to. */
  readonly serving?: HostTask;
  /** Other hosts that run: they get no new requests. */
  readonly idle: readonly HostTask[];
  /** Hosts that run without a public name or a secret, or unhealthy: they get no requests, and cost all the same. */
  readonly unreachable: readonly HostTask[];
  /** Those of both that are to end now, so that none runs unused; their streams have the drain time to finish. */
  readonly surplus: readonly HostTask[];
}

/** Registers the newest host that can be reached, renews it in good time, and removes whatever does not run. */
export function planRegistration({ tasks, names, record, now }: RegistrationState): RegistrationPlan {
  const hosts = tasks
    .filter(({ stage }) => stage === 'running')
    .map((task) => ({ task, name: names.get(task.networkInterface ?? '') }));
  const reachable = hosts
    .filter(({ task, name }) => name && task.secret)
    .sort((a, b) => b.task.createdAt - a.task.createdAt || (a.task.arn < b.task.arn ? 1 : -1));
  const unreachable = [
    ...hosts.filter(({ task, name }) => !name || !task.secret).map(({ task }) => task),
    ...tasks.filter(({ stage }) => stage === 'unhealthy'),
  ];
  const [newest, ...others] = reachable;
  const idle = others.map(({ task }) => task);
  const isSettling = ({ stage, runningSince = now }: HostTask) =>
    stage === 'running' && now - runningSince < SETTLE_SECONDS;
  const surplus = [...idle, ...unreachable.filter((task) => !isSettling(task))];
  const value = typeof record === 'object' ? record.value : undefined;
  if (!newest) {
    const isThere = value !== undefined || record === 'unwanted';
    return { change: { kind: isThere ? 'delete' : 'keep' }, idle, unreachable, surplus };
  }
  const address = `${newest.name}|${newest.task.secret}|`;
  const expires = value?.startsWith(address) ? Number(value.slice(address.length)) : 0;
  const change: RegistrationPlan['change'] =
    expires - now >= RENEW_BELOW_SECONDS
      ? { kind: 'keep' }
      : { kind: 'write', value: `${address}${now + LEASE_SECONDS}` };
  return { change, serving: newest.task, idle, unreachable, surplus };
}
