import type { HostTask } from './host-task.ts';

/** The key of the key-value store that the edge function reads. */
export const HOST_KEY = 'host';

/** Lifetime of a registration, and the remaining time below which it is renewed. The schedule runs every ten minutes. */
const LEASE_SECONDS = 25 * 60;
const RENEW_BELOW_SECONDS = 20 * 60;
/** Time that a host may run without a public name: EC2's reads are eventually consistent. */
const SETTLE_SECONDS = 5 * 60;

/** What the registration is planned from. */
export interface RegistrationState {
  readonly tasks: readonly HostTask[];
  /** Public names by network interface. */
  readonly names: ReadonlyMap<string, string>;
  /** What the key-value store holds. `stale`: a value that has to be removed unless a host runs. */
  readonly record: { readonly value: string | undefined } | 'unknown' | 'stale';
  /** Epoch seconds. */
  readonly now: number;
}

export interface RegistrationPlan {
  readonly change: { readonly kind: 'write'; readonly value: string } | { readonly kind: 'delete' | 'keep' };
  /** The host that the edge sends requests to. */
  readonly serving?: HostTask;
  /** Other running hosts, which get no new requests. */
  readonly idle: readonly HostTask[];
  /** Running hosts that are unhealthy or have no public name or secret: they get no requests but are billed. */
  readonly unreachable: readonly HostTask[];
  /** The idle and unreachable hosts to stop now. Their streams have the drain time to finish. */
  readonly surplus: readonly HostTask[];
}

/** Registers the newest reachable host, renews its registration before it expires, and removes that of a stopped host. */
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
    const isRegistered = value !== undefined || record === 'stale';
    return { change: { kind: isRegistered ? 'delete' : 'keep' }, idle, unreachable, surplus };
  }
  const address = `${newest.name}|${newest.task.secret}|`;
  const expiresAt = value?.startsWith(address) ? Number(value.slice(address.length)) : 0;
  const change: RegistrationPlan['change'] =
    expiresAt - now >= RENEW_BELOW_SECONDS
      ? { kind: 'keep' }
      : { kind: 'write', value: `${address}${now + LEASE_SECONDS}` };
  return { change, serving: newest.task, idle, unreachable, surplus };
}
