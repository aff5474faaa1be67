import { SettingError } from '../core/config/index.ts';
import type { DeploymentSettings, ProfileName } from './settings.ts';

/** Values of a profile, each of which a setting of the same name replaces. */
interface Sizes {
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
  /** Requests per second that the HTTP API admits to each route that resolves, by far the most expensive ones. */
  readonly resolveRate: number;
  /** Executions of the resolver at once, over all routes: the guard reserves them where the account's quota permits. */
  readonly resolverLimit: number;
  /** Set by the operator only: reserved at deployment, which fails where the account's quota does not permit it. */
  readonly resolverConcurrency?: number;
  /** Playlist entries resolved concurrently, each by an invocation of the resolver. */
  readonly entriesAtOnce: number;
  /** US dollars a month: above the bill with the traffic that docs/operating-aws.md assumes. */
  readonly monthlyBudget: number;
  /** US dollars of traffic, above which the edge is closed until the day ends. */
  readonly dailyCap: number;
}

/** Properties of one deployment. Constructs test a property, never the profile's name. */
export interface Profile extends Sizes {
  readonly resolveBurst: number;
  /** Requests per second that the HTTP API admits: sustained and in a burst. */
  readonly apiRate: number;
  readonly apiBurst: number;
  readonly hourlyCap: number;
  readonly monthlyCap: number;
}

type PricingPlan = Exclude<DeploymentSettings['pricingPlan'], 'none'>;

/** The cheapest first. */
const PRICING_PLANS: readonly PricingPlan[] = ['free', 'pro', 'business', 'premium'];

/**
 * What the stack uses of CloudFront, and the cheapest plan that has it: “Features by pricing plan tier” of the CloudFront Developer
 * Guide, 2026-11-26. A subscription with less fails at the end of a deployment.
 */
const PLAN_FEATURES: readonly Readonly<{ name: string; from: PricingPlan; usedBy?: Profile['streamHost'] }>[] = [
  { name: 'a custom cache policy', from: 'business', usedBy: 'balanced' },
  { name: 'more than five cache behaviours', from: 'pro' },
  { name: 'a key-value store', from: 'pro' },
  { name: 'custom responses of the firewall', from: 'pro' },
  { name: 'a VPC origin', from: 'business', usedBy: 'balanced' },
];

/** @throws SettingError for a plan that lacks what a profile uses */
function checkPlan({ pricingPlan, profile: name }: DeploymentSettings, { streamHost }: Sizes): void {
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

export const profiles: Readonly<Record<ProfileName, Sizes>> = {
  hobby: {
    streamHost: 'on-demand',
    taskCpu: 512,
    taskMemory: 1024,
    minTasks: 0,
    maxTasks: 1,
    pointInTimeRecovery: false,
    isProtected: false,
    resolveRate: 2,
    resolverLimit: 8,
    entriesAtOnce: 4,
    monthlyBudget: 10,
    dailyCap: 1,
  },
  team: {
    streamHost: 'balanced',
    taskCpu: 512,
    taskMemory: 1024,
    minTasks: 1,
    maxTasks: 4,
    pointInTimeRecovery: false,
    isProtected: false,
    resolveRate: 5,
    resolverLimit: 20,
    entriesAtOnce: 8,
    monthlyBudget: 60,
    dailyCap: 5,
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
    resolveRate: 20,
    resolverLimit: 100,
    entriesAtOnce: 24,
    monthlyBudget: 4500,
    dailyCap: 200,
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
  const { resolverConcurrency, entriesAtOnce = 0, resolverProvisioned } = settings;
  const given = Object.entries(settings).filter(([name, value]) => name in profile && value !== undefined);
  const changed: Sizes = {
    ...profile,
    ...Object.fromEntries(given),
    resolverConcurrency,
    isProtected: settings.deletionProtection ?? profile.isProtected,
    // Room for two playlists: each runs in one execution and uses one more for each of its entries that is resolved at the same time.
    resolverLimit:
      resolverConcurrency ?? Math.max(profile.resolverLimit, 2 * Math.max(entriesAtOnce, resolverProvisioned)),
    // A plan requires a firewall, and includes it.
    ...(settings.pricingPlan !== 'none' && { firewall: profile.firewall ?? profiles.public.firewall }),
  };
  if (changed.minTasks > changed.maxTasks) {
    throw new SettingError(`minTasks must be at most maxTasks (${changed.maxTasks}), not ${changed.minTasks}`);
  }
  // With fewer executions than one playlist uses, its own entries would be throttled.
  if (resolverConcurrency !== undefined && resolverConcurrency <= changed.entriesAtOnce) {
    throw new SettingError(`resolverConcurrency must be above entriesAtOnce (${changed.entriesAtOnce})`);
  }
  const { dailyCap, resolveRate } = changed;
  const { hourlyCap = dailyCap / 2, monthlyCap = 10 * dailyCap } = settings;
  return {
    ...changed,
    hourlyCap: Math.min(hourlyCap, dailyCap),
    monthlyCap,
    resolveBurst: 5 * resolveRate,
    // The stage has five times as much, for the routes that do not resolve.
    apiRate: 5 * resolveRate,
    apiBurst: 10 * resolveRate,
  };
}

/** The input of all constructs. */
export interface Deployment {
  readonly settings: DeploymentSettings;
  readonly profile: Profile;
  /** The folder of the bundled code (`functions/<name>`, `stream-service`) and of the built page (`web`). */
  readonly bundleDir: string;
}
