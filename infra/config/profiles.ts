import { ContextError } from './parsers.ts';
import type { DeploymentSettings, ProfileName } from './settings.ts';

/** What tells one kind of deployment from another, as data: constructs ask for a property, never for a name. */
export interface Profile {
  /** `balanced`: tasks behind a load balancer that is always there. `on-demand`: one task that comes and goes. */
  readonly streamHost: 'balanced' | 'on-demand';
  /** CPU units of a task: 1,024 is one core. */
  readonly taskCpu: number;
  /** MiB of a task. */
  readonly taskMemory: number;
  /** Tasks at least and at most; on demand there is no least. */
  readonly minTasks: number;
  readonly maxTasks: number;
  /** Whether the table can be put back to any second of the last days. */
  readonly pointInTimeRecovery: boolean;
  /** Requests of one address in five minutes before the firewall answers 429. Absent: no firewall. */
  readonly firewall?: Readonly<{ resolves: number; streams: number }>;
  /** Requests a second that the HTTP API admits, lasting and in a burst. */
  readonly apiRate: number;
  readonly apiBurst: number;
  /** Entries of one playlist that are resolved at once, each by an invocation of the resolver. */
  readonly entriesAtOnce: number;
  /** Which troubles are watched for. An account has ten alarms free; each policy of scaling makes two more by itself. */
  readonly alarms: 'essential' | 'full';
  /** US dollars a month. */
  readonly monthlyBudget: number;
}

export const profiles: Readonly<Record<ProfileName, Profile>> = {
  hobby: {
    streamHost: 'on-demand',
    taskCpu: 512,
    taskMemory: 1024,
    minTasks: 0,
    maxTasks: 1,
    pointInTimeRecovery: false,
    apiRate: 10,
    apiBurst: 20,
    entriesAtOnce: 4,
    alarms: 'essential',
    monthlyBudget: 10,
  },
  team: {
    streamHost: 'balanced',
    taskCpu: 512,
    taskMemory: 1024,
    minTasks: 1,
    maxTasks: 4,
    pointInTimeRecovery: false,
    apiRate: 20,
    apiBurst: 40,
    entriesAtOnce: 8,
    alarms: 'essential',
    monthlyBudget: 60,
  },
  public: {
    streamHost: 'balanced',
    taskCpu: 1024,
    taskMemory: 2048,
    minTasks: 2,
    maxTasks: 20,
    pointInTimeRecovery: true,
    firewall: { resolves: 300, streams: 3000 },
    apiRate: 100,
    apiBurst: 200,
    entriesAtOnce: 24,
    alarms: 'full',
    monthlyBudget: 250,
  },
};

/**
 * The profile that the settings name, with the sizes that they change.
 * @throws ContextError when least and most no longer fit
 */
export function profileOf(settings: DeploymentSettings): Profile {
  const profile = profiles[settings.profile];
  const { taskCpu, taskMemory, minTasks, maxTasks, entriesAtOnce, monthlyBudget } = settings;
  const changed: Profile = {
    ...profile,
    ...(taskCpu && { taskCpu }),
    ...(taskMemory && { taskMemory }),
    ...(minTasks && { minTasks }),
    ...(maxTasks && { maxTasks }),
    ...(entriesAtOnce && { entriesAtOnce }),
    ...(monthlyBudget && { monthlyBudget }),
  };
  if (changed.minTasks > changed.maxTasks) {
    throw new ContextError(`minTasks must be at most maxTasks (${changed.maxTasks}), not ${changed.minTasks}`);
  }
  return changed;
}
