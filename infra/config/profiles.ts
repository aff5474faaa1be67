import { SettingError } from '../../core/config/index.ts';
import type { DeploymentSettings, ProfileName } from './settings.ts';

/** Properties of one kind of deployment. Constructs test a property, never the profile's name. */
export interface Profile {
  /** `balanced`: tasks behind a load balancer. `on-demand`: one task, started by a request and ended when idle. */
  readonly streamHost: 'balanced' | 'on-demand';
  /** CPU units of a task: 1,024 are one core. */
  readonly taskCpu: number;
  /** MiB of a task. */
  readonly taskMemory: number;
  /** Minimum and maximum number of tasks; the minimum is 0 on demand. */
  readonly minTasks: number;
  readonly maxTasks: number;
  /** Whether the table can be restored to any second of the last 35 days. */
  readonly pointInTimeRecovery: boolean;
  /** Whether CloudFormation refuses to delete the stack. */
  readonly isProtected: boolean;
  /** Requests of one address in five minutes above which the firewall answers 429. Absent: no firewall. */
  readonly firewall?: Readonly<{ resolves: number; streams: number }>;
  /** Requests per second that the HTTP API admits: sustained and in a burst. */
  readonly apiRate: number;
  readonly apiBurst: number;
  /** The same for GetResource alone, by far the most expensive route. */
  readonly resolveRate: number;
  readonly resolveBurst: number;
  /** Executions of the resolver at once, over all routes: the guard reserves them where the account's quota permits. */
  readonly resolverLimit: number;
  /** The same as a setting, which the deployment reserves or fails. */
  readonly resolverConcurrency?: number;
  /** Playlist entries resolved concurrently, each by an invocation of the resolver. */
  readonly entriesAtOnce: number;
  /** `essential` fits the ten free alarms of an account; each scaling policy creates two more. */
  readonly alarms: 'essential' | 'full';
  /** US dollars a month: above the bill with the traffic that docs/operating-aws.md assumes. */
  readonly monthlyBudget: number;
  /** US dollars of traffic, above which the edge is closed until the period ends. */
  readonly dailyCap: number;
  readonly hourlyCap: number;
  readonly monthlyCap: number;
}

type PricingPlan = Exclude<DeploymentSettings['pricingPlan'], 'none'>;

/** By price. */
const PRICING_PLANS: readonly PricingPlan[] = ['free', 'pro', 'business', 'premium'];

/**
 * What the stack uses of CloudFront, and the cheapest plan that has it: “Features by pricing plan tier” of the CloudFront Developer
 * Guide, 2026-11-26. A subscription with less fails at the end of a deployment.
 */
const PLAN_FEATURES: readonly Readonly<{ name: string; from: PricingPlan; usedBy?: Profile['streamHost'] }>[] = [
  { name: 'a custom cache policy', from: 'business' },
  { name: 'custom response headers policies', from: 'business' },
  { name: 'more than five cache behaviours', from: 'pro' },
  { name: 'a key-value store', from: 'pro' },
  { name: 'custom responses of the firewall', from: 'pro' },
  { name: 'a VPC origin', from: 'business', usedBy: 'balanced' },
  { name: 'an origin group', from: 'premium', usedBy: 'on-demand' },
];

/** @throws SettingError for a plan that lacks what a profile uses */
function checkPlan({ pricingPlan, profile: name }: DeploymentSettings, { streamHost }: Profile): void {
  if (pricingPlan === 'none') return;
  const lacks = (plan: PricingPlan) =>
    PLAN_FEATURES.filter(
      ({ from, usedBy = streamHost }) =>
        usedBy === streamHost && PRICING_PLANS.indexOf(from) > PRICING_PLANS.indexOf(plan),
    );
  const lacking = lacks(pricingPlan).map((feature) => feature.name);
  if (lacking.length === 0) return;
  const sufficient = PRICING_PLANS.find((plan) => lacks(plan).length === 0);
  throw new SettingError(
    `pricingPlan=${pricingPlan} does not have what ${name} uses (${lacking.join(', ')}): use pricingPlan=${sufficient}, or none`,
  );
}

/** Targets of one task, for scaling; a stream at 8 Mbit/s is 60 MB a minute. */
export const TASK_TARGETS = { streamsPerCore: 60, bytesPerMinutePerCore: 3.6e9 } as const;

export const profiles: Readonly<Record<ProfileName, Profile>> = {
  hobby: {
    streamHost: 'on-demand',
    taskCpu: 512,
    taskMemory: 1024,
    minTasks: 0,
    maxTasks: 1,
    pointInTimeRecovery: false,
    isProtected: false,
    apiRate: 10,
    apiBurst: 20,
    resolveRate: 2,
    resolveBurst: 10,
    resolverLimit: 8,
    entriesAtOnce: 4,
    alarms: 'essential',
    monthlyBudget: 10,
    dailyCap: 1,
    hourlyCap: 0.5,
    monthlyCap: 10,
  },
  team: {
    streamHost: 'balanced',
    taskCpu: 512,
    taskMemory: 1024,
    minTasks: 1,
    maxTasks: 4,
    pointInTimeRecovery: false,
    isProtected: false,
    apiRate: 20,
    apiBurst: 40,
    resolveRate: 5,
    resolveBurst: 20,
    resolverLimit: 20,
    entriesAtOnce: 8,
    alarms: 'essential',
    monthlyBudget: 60,
    dailyCap: 5,
    hourlyCap: 2.5,
    monthlyCap: 50,
  },
  public: {
    streamHost: 'balanced',
    taskCpu: 1024,
    taskMemory: 2048,
    minTasks: 2,
    maxTasks: 20,
    pointInTimeRecovery: true,
    isProtected: true,
    firewall: { resolves: 300, streams: 3000 },
    apiRate: 100,
    apiBurst: 200,
    resolveRate: 20,
    resolveBurst: 60,
    resolverLimit: 100,
    entriesAtOnce: 24,
    alarms: 'full',
    monthlyBudget: 4500,
    dailyCap: 200,
    hourlyCap: 100,
    monthlyCap: 2000,
  },
};

/**
 * The profile that the settings name, with the sizes that they override.
 * @throws SettingError when minTasks exceeds maxTasks, when resolverConcurrency leaves playlists no room, or when the flat-rate plan
 * lacks what the profile uses
 */
export function profileOf(settings: DeploymentSettings): Profile {
  const profile = profiles[settings.profile];
  checkPlan(settings, profile);
  const { taskCpu, taskMemory, minTasks, maxTasks, entriesAtOnce, monthlyBudget, resolverConcurrency } = settings;
  const { dailyCap = profile.dailyCap, hourlyCap = dailyCap / 2, monthlyCap = 10 * dailyCap, resolveRate } = settings;
  const changed: Profile = {
    ...profile,
    taskCpu: taskCpu ?? profile.taskCpu,
    taskMemory: taskMemory ?? profile.taskMemory,
    minTasks: minTasks ?? profile.minTasks,
    maxTasks: maxTasks ?? profile.maxTasks,
    entriesAtOnce: entriesAtOnce ?? profile.entriesAtOnce,
    monthlyBudget: monthlyBudget ?? profile.monthlyBudget,
    resolverConcurrency,
    isProtected: settings.deletionProtection ?? profile.isProtected,
    // The default leaves each playlist its room: it runs in one execution and uses one more for each entry at once.
    resolverLimit:
      resolverConcurrency ??
      Math.max(profile.resolverLimit, 2 * Math.max(entriesAtOnce ?? 0, settings.resolverProvisioned)),
    // A plan requires a firewall, and includes it.
    ...(settings.pricingPlan !== 'none' && { firewall: profile.firewall ?? profiles.public.firewall }),
    dailyCap,
    hourlyCap: Math.min(hourlyCap, dailyCap),
    monthlyCap,
    ...(resolveRate !== undefined && ratesFor(resolveRate)),
  };
  if (changed.minTasks > changed.maxTasks) {
    throw new SettingError(`minTasks must be at most maxTasks (${changed.maxTasks}), not ${changed.minTasks}`);
  }
  // A playlist runs in one execution and uses one more for each entry at once.
  if (resolverConcurrency !== undefined && resolverConcurrency <= changed.entriesAtOnce) {
    throw new SettingError(`resolverConcurrency must be above entriesAtOnce (${changed.entriesAtOnce})`);
  }
  return changed;
}

/** Rates of the HTTP API for a rate of resolves: the stage has five times as much, for the routes that do not resolve. */
const ratesFor = (resolveRate: number) => ({
  resolveRate,
  resolveBurst: 3 * resolveRate,
  apiRate: 5 * resolveRate,
  apiBurst: 10 * resolveRate,
});
