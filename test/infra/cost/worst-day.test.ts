import { describe, expect, it } from 'vitest';
import { profileOf } from '../../../infra/config/profiles.ts';
import { readContext } from '../../../infra/config/settings.ts';
import { METERS } from '../../../infra/cost/prices.ts';
import { type Load, simulateDay } from '../../../infra/cost/simulate-day.ts';
import { spendingPlan } from '../../../infra/cost/spending-plan.ts';
import { unitPrices } from '../../../infra/cost/unit-prices.ts';
import { ATTACKS, attackedDays, worstDay } from '../../../infra/cost/worst-day.ts';

const of = (context: Record<string, unknown>) => {
  const settings = readContext(context);
  const profile = profileOf(settings);
  return { settings, profile, plan: spendingPlan(settings, profile), prices: unitPrices(settings, profile) };
};
const DAY = 86_400;
const NOTHING: Load = { bytes: 0, requests: 0, links: 0, secondsPerLink: 1 };

describe('unitPrices', () => {
  it('are those of the price table', () => {
    const { prices } = of({ profile: 'public', resolverMemory: 3072 });
    const { edgeTraffic, loadBalancerUnit, functionTimeArm, taskVcpuArm, taskMemoryArm, publicAddress } = METERS;
    expect(prices.edgeByte * 1e9).toBeCloseTo(edgeTraffic.tiers[0].price + loadBalancerUnit.price, 10);
    expect(prices.resolverSecond).toBeCloseTo(3 * functionTimeArm.price, 10);
    expect(prices.taskMinute * 60).toBeCloseTo(taskVcpuArm.price + 2 * taskMemoryArm.price + publicAddress.price, 10);
  });

  it('of the edge are nothing with a flat-rate plan, but for the load balancer', () => {
    expect(of({ profile: 'hobby', pricingPlan: 'free' }).prices).toMatchObject({ edgeByte: 0, edgeRequest: 0 });
    expect(of({ profile: 'public', pricingPlan: 'pro' }).prices.edgeByte * 1e9).toBeCloseTo(0.008, 10);
  });
});

describe('spendingPlan', () => {
  it('caches streams where a burst of cached bytes is small against the cap, or costs nothing', () => {
    const caches = (context: Record<string, unknown>) => of(context).plan.cachesStreams;
    expect(caches({ profile: 'hobby' })).toBe(false);
    expect(caches({ profile: 'team' })).toBe(false);
    expect(caches({ profile: 'public' })).toBe(true);
    expect(caches({ profile: 'public', dailyCap: 20 })).toBe(false);
    expect(caches({ profile: 'hobby', pricingPlan: 'free' })).toBe(true);
  });
});

describe('simulateDay', () => {
  const { plan, prices, profile } = of({ profile: 'public', dailyCap: 1_000_000 });

  it('costs what arithmetic says while the guard is open', () => {
    const load = { bytes: 1e6, requests: 2, links: 3, secondsPerLink: 4 };
    const { usd, bytes, links, closedAt } = simulateDay({ plan, prices, profile, loadAt: () => load });
    expect([bytes, links, closedAt]).toEqual([1e6 * DAY, 3 * DAY, DAY]);
    const perSecond =
      1e6 * prices.edgeByte +
      5 * prices.edgeRequest +
      3 * (prices.apiRequest + prices.resolve + 4 * prices.resolverSecond) +
      (profile.maxTasks * prices.taskMinute) / 60;
    expect(usd / (perSecond * DAY)).toBeCloseTo(1, 6);
  });

  it('resolves no more than executions and the API admit', () => {
    const day = (links: number, secondsPerLink: number) =>
      simulateDay({ plan, prices, profile, loadAt: () => ({ ...NOTHING, links, secondsPerLink }) }).links / DAY;
    expect(day(1_000, 25)).toBeCloseTo(profile.resolverLimit / 25, 6);
    expect(day(1_000, 0.1)).toBeCloseTo(profile.apiRate, 6);
    expect(day(1, 25)).toBeCloseTo(1, 6);
  });

  it('costs nothing without traffic', () =>
    expect(simulateDay({ plan, prices, profile, loadAt: () => NOTHING })).toMatchObject({ usd: 0, closedAt: DAY }));
});

describe.each([
  [{ profile: 'hobby' }],
  [{ profile: 'team' }],
  [{ profile: 'public' }],
  [{ profile: 'hobby', streamHost: 'lambda' }],
  [{ profile: 'public', dailyCap: 20 }],
])('spending of %j', (context) => {
  const { settings, profile } = of(context);
  const days = attackedDays(settings, profile);

  it.each(Object.keys(ATTACKS))('ends below 1.2 times its cap under %s', (name) => {
    expect(days[name]?.usd).toBeLessThan(1.2 * profile.dailyCap);
  });

  it('is closed by what would exceed it', () => expect(days['all at once']?.closedAt).toBeLessThan(DAY));
});

describe('requests that the closed edge refuses', () => {
  it('cost more than the cap of hobby without a plan, and nothing with one', () => {
    const refused = (context: Record<string, unknown>) => {
      const { settings, profile } = of(context);
      return worstDay(settings, profile).refusedUsd;
    };
    expect(refused({ profile: 'hobby' })).toBeGreaterThan(1);
    expect(refused({ profile: 'hobby', pricingPlan: 'free' })).toBe(0);
  });
});
