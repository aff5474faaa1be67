import type { DeploymentSettings, Profile } from '../config/index.ts';
import { unitPrices } from './unit-prices.ts';

/** What the cost guard closes at, in USD by list prices. */
export interface SpendingPlan {
  readonly hourlyCap: number;
  readonly dailyCap: number;
  readonly monthlyCap: number;
  /** USD a day at which the edge closes whatever the rate: a burst that no metric shows yet stays below `BOUND` caps. */
  readonly closesAt: number;
  /** Whether the edge may keep streams. Where it does, bytes leave without anything but CloudFront's metrics to tell. */
  readonly cachesStreams: boolean;
}

/** Spending of a day ends below this many caps. */
const BOUND = 1.2;
/** What viewers can take from the edge together, for which the guard is designed: 10 Gbit/s. */
const ATTACK_BYTES_PER_SECOND = 1.25e9;
/** How late metrics may be: those of CloudFront, and those of the region. */
const METRIC_DELAY_MINUTES = { edge: 5, region: 1 } as const;
/** The interval of the guard, and what is under way when it closes. */
const REACTION_MINUTES = 2;

/** Minutes of use that are not visible yet when they are acted on. */
export const UNSEEN_MINUTES = {
  edge: METRIC_DELAY_MINUTES.edge + REACTION_MINUTES,
  region: METRIC_DELAY_MINUTES.region + REACTION_MINUTES,
} as const;

/**
 * Streams are cached where a burst of cached bytes at the designed speed is small against the cap, or costs nothing by a flat
 * rate. Elsewhere every byte passes the stream service, which counts it before it is sent.
 */
export function spendingPlan(settings: DeploymentSettings, profile: Profile): SpendingPlan {
  const { dailyCap, hourlyCap, monthlyCap, resolverLimit, maxTasks } = profile;
  const { edgeByte, resolverSecond, taskMinute } = unitPrices(settings, profile);
  const ofHosts = UNSEEN_MINUTES.region * (60 * resolverLimit * resolverSecond + maxTasks * taskMinute);
  const ofCache = UNSEEN_MINUTES.edge * 60 * ATTACK_BYTES_PER_SECOND * edgeByte;
  const isCheap = settings.pricingPlan !== 'none' || BOUND * dailyCap - ofHosts - ofCache >= dailyCap / 2;
  // The custom cache policy is in no plan that `hobby` could do with, and one task has little to keep.
  const cachesStreams = isCheap && profile.streamHost === 'balanced';
  const unseen = ofHosts + (cachesStreams && settings.pricingPlan === 'none' ? ofCache : 0);
  const closesAt = Math.min(dailyCap, Math.max(0, BOUND * dailyCap - unseen));
  return { hourlyCap, dailyCap, monthlyCap, closesAt, cachesStreams };
}
