import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import type { GuardRecord, WatchedMetric } from '../../../core/spending/index.ts';
import { profileOf } from '../../../infra/profiles.ts';
import { readContext } from '../../../infra/settings.ts';
import { spendingPlan, unitPrices } from '../../../infra/spending-plan.ts';
import { createCostGuard } from '../../../lambdas/cost-guard/index.ts';

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
    expect(of({ profile: 'hobby', pricingPlan: 'pro' }).prices).toMatchObject({ edgeByte: 0, edgeRequest: 0 });
    expect(of({ profile: 'public', pricingPlan: 'business' }).prices.edgeByte * 1e9).toBeCloseTo(0.008, 10);
  });
});

/**
 * What AWS bills for a million requests of each kind, meter by meter from AWS's price lists (us-east-1, ARM, 2026-11-21), and not from
 * the table of the guard.
 */
const EDGE_METERS = [
  // Request by HTTPS, edge function, three reads of its store.
  ...[1, 0.1, 3 * 0.03],
];
/** Invocation, 50 ms of 256 MB, the lines of the function and of Lambda (1 KB), traces of 5 % and of the first in a second. */
const FUNCTION_METERS = [0.2, 1e6 * 0.05 * 0.25 * 0.0000133334, 0.5, 0.05 * 5];
const BILLS: Record<string, readonly number[]> = {
  'a page': [...EDGE_METERS, 0.1, 0.4],
  // API Gateway, its line of 0.4 KB, one read of the table.
  'a request of the API': [...EDGE_METERS, ...FUNCTION_METERS, 1, 0.2, 0.125],
  'a stream while the host sleeps': [...EDGE_METERS, ...FUNCTION_METERS, 3 * 0.125],
};

it.each(['hobby', 'team', 'public'])('the guard counts no less than AWS bills for requests, in %s', (name) => {
  const { edgeRequest, apiRequest, wakeRequest, uploadByte } = of({ profile: name }).prices;
  const firewall = name === 'public' ? 0.6 : 0;
  const counted: Record<string, number> = {
    'a page': edgeRequest,
    'a request of the API': edgeRequest + apiRequest,
    'a stream while the host sleeps': edgeRequest + wakeRequest,
  };
  for (const [kind, meters] of Object.entries(BILLS)) {
    const bill = meters.reduce((sum, usd) => sum + usd, firewall);
    expect([kind, (counted[kind] ?? 0) * 1e6 >= bill * 0.999]).toEqual([kind, true]);
  }
  expect(uploadByte * 1e9).toBeCloseTo(0.02, 10);
});

/** Minutes until a metric of CloudFront shows a request, and until a disabled distribution takes none. */
const [METRIC_DELAY, SWITCH_DELAY] = [5, 5];

it.each([
  ['hobby', 3],
  ['team', 9.5],
  ['public', 301.5],
])('a day of a thousand refused requests a second costs %s at most $%d, by the bill', async (name, mostUsd) => {
  const { plan, prices } = of({ profile: name });
  const midnight = Date.parse('2026-11-23T00:00:00Z') / 1000;
  const requests: [number, number][] = [];
  let [now, offAt, record] = [midnight, Number.POSITIVE_INFINITY, {} as GuardRecord];
  const metric: WatchedMetric = {
    namespace: 'n',
    name: 'Requests',
    dimensions: {},
    statistic: 'Sum',
    usd: prices.edgeRequest,
    unseenMinutes: 7,
    isDoor: true,
  };
  const guard = createCostGuard({
    watched: [metric],
    caps: { hour: plan.hourlyCap, day: plan.dailyCap, month: plan.monthlyCap },
    closesAt: plan.closesAt,
    readMetric: async () => ({ metric, minutes: requests.filter(([at]) => at <= now - METRIC_DELAY * 60) }),
    state: {
      countStreamBytes: async () => 0,
      getCostGuard: async () => record,
      putCostGuard: async (next) => {
        record = next;
        return 'a revision';
      },
    },
    flag: { storeArn: 'store', write: async () => 'a version' },
    switchEdge: async (isOn) => {
      offAt = isOn ? Number.POSITIVE_INFINITY : Math.min(offAt, now + SWITCH_DELAY * 60);
      return false;
    },
    limits: [],
    log: silentLog,
    now: () => now * 1000,
  });
  for (; now < midnight + 86_400; now += 60) {
    if (now < offAt) requests.push([now, 60_000]);
    await guard({});
  }
  // Request by HTTPS, edge function, one read of its store, and the firewall of `public`.
  const perMillion = 1 + 0.1 + 0.03 + (name === 'public' ? 0.6 : 0);
  const bill = requests.reduce((sum, [, count]) => sum + (count * perMillion) / 1e6, 0);
  expect(bill).toBeLessThan(mostUsd);
});

describe('spendingPlan', () => {
  it('caches streams where a burst of cached bytes is small against the cap, or costs nothing', () => {
    const caches = (context: Record<string, unknown>) => of(context).plan.cachesStreams;
    expect(caches({ profile: 'hobby' })).toBe(false);
    expect(caches({ profile: 'team' })).toBe(false);
    expect(caches({ profile: 'public' })).toBe(true);
    expect(caches({ profile: 'public', dailyCap: 20 })).toBe(false);
    expect(caches({ profile: 'team', pricingPlan: 'business' })).toBe(true);
    expect(caches({ profile: 'hobby', pricingPlan: 'pro' })).toBe(false);
  });
});
