import { describe, expect, it } from 'vitest';
import { profileOf } from '../../../infra/config/profiles.ts';
import { readContext } from '../../../infra/config/settings.ts';
import { spendingPlan } from '../../../infra/cost/spending-plan.ts';
import { unitPrices } from '../../../infra/cost/unit-prices.ts';

const of = (context: Record<string, unknown>) => {
  const settings = readContext(context);
  const profile = profileOf(settings);
  return { settings, profile, plan: spendingPlan(settings, profile), prices: unitPrices(settings, profile) };
};

describe('unitPrices', () => {
  it('are those of the size and processor of a deployment', () => {
    const { prices } = of({ profile: 'public', resolverMemory: 3072 });
    expect(prices.edgeByte * 1e9).toBeCloseTo(0.085 + 0.008, 10);
    expect(prices.resolverSecond).toBeCloseTo(3 * 0.0000133334, 10);
    expect(prices.taskMinute * 60).toBeCloseTo(0.03238 + 2 * 0.00356 + 0.005, 10);
  });

  it('of the edge are nothing with a flat-rate plan, but for the load balancer', () => {
    expect(of({ profile: 'hobby', pricingPlan: 'premium' }).prices).toMatchObject({ edgeByte: 0, edgeRequest: 0 });
    expect(of({ profile: 'public', pricingPlan: 'business' }).prices.edgeByte * 1e9).toBeCloseTo(0.008, 10);
  });
});

describe('spendingPlan', () => {
  it('caches streams where a burst of cached bytes is small against the cap, or costs nothing', () => {
    const caches = (context: Record<string, unknown>) => of(context).plan.cachesStreams;
    expect(caches({ profile: 'hobby' })).toBe(false);
    expect(caches({ profile: 'team' })).toBe(false);
    expect(caches({ profile: 'public' })).toBe(true);
    expect(caches({ profile: 'public', dailyCap: 20 })).toBe(false);
    expect(caches({ profile: 'hobby', pricingPlan: 'premium' })).toBe(true);
  });
});
