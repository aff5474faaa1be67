import {
  allowStreams,
  decideOnSpending,
  type GuardRecord,
  measureSpending,
  type Reading,
  type WatchedMetric,
  withSentBytes,
} from '../../core/spending/index.ts';
import type { Profile } from '../config/index.ts';
import { METRIC_DELAY_MINUTES, type SpendingPlan, UNSEEN_MINUTES } from './spending-plan.ts';
import type { UnitPrices } from './unit-prices.ts';

/** What viewers ask for in each second of a day. */
export interface Load {
  /** Bytes that viewers would take, from caches or tasks. */
  readonly bytes: number;
  /** Requests of streams, and of other things at the edge. */
  readonly requests: number;
  /** Links to resolve, each of which takes an execution for as long as it may. */
  readonly links: number;
  readonly secondsPerLink: number;
}

export interface DayOptions {
  readonly prices: UnitPrices;
  readonly plan: SpendingPlan;
  readonly profile: Pick<Profile, 'apiRate' | 'resolverLimit' | 'maxTasks'>;
  /** The load of a second of the day, by what has been spent before it. */
  readonly loadAt: (second: number, usd: number) => Load;
}

/** What a day costs. */
export interface DayCost {
  /** USD of everything but `refusedUsd`. */
  readonly usd: number;
  /** USD of requests that the closed edge refuses, which only a flat-rate plan bounds. */
  readonly refusedUsd: number;
  /** Seconds of the day at which it was closed; the end of the day where it was not. */
  readonly closedAt: number;
  /** Bytes to viewers, and links resolved. */
  readonly bytes: number;
  readonly links: number;
}

const DAY = 86_400;
const MINUTE = 60;
/** Until every edge location has the flag, and until responses under way have ended. */
const FLAG_SECONDS = 10;
const UNDER_WAY_SECONDS = 50;
const METERS = ['bytes', 'requests', 'resolverSeconds', 'resolves', 'apiRequests', 'taskMinutes'] as const;
type MeterName = (typeof METERS)[number];

/**
 * A day, second by second, with the guard's own functions: metrics that are late, a run each minute, a flag that takes time to
 * be everywhere, and responses under way that go on. Deterministic.
 */
export function simulateDay({ prices, plan, profile, loadAt }: DayOptions): DayCost {
  const metrics = metricsOf(prices, plan);
  const minutes = Object.fromEntries(METERS.map((name) => [name, [] as [number, number][]])) as Record<
    MeterName,
    [number, number][]
  >;
  const add = (name: MeterName, second: number, value: number) => {
    const start = second - (second % MINUTE);
    const last = minutes[name].at(-1);
    if (last?.[0] === start) last[1] += value;
    else minutes[name].push([start, value]);
    return value * metrics[name].usd;
  };
  let record: GuardRecord = {};
  let [usd, refusedUsd, sentBytes, resolved, closedAt, closingAt] = [0, 0, 0, 0, DAY, DAY];
  let allowed = plan.cachesStreams || prices.edgeByte === 0 ? Infinity : plan.dailyCap / prices.edgeByte;

  for (let second = 0; second < DAY; second++) {
    // Closed until the day ends, it stays so.
    if (second % MINUTE === 0 && (record.closedUntil ?? 0) < DAY) {
      const readings = visible(metrics, minutes, second);
      const known = plan.cachesStreams ? readings : withSentBytes(readings, sentBytes, second);
      const { closedUntil } = decideOnSpending({
        spending: measureSpending(known, second),
        caps: { hour: plan.hourlyCap, day: plan.dailyCap },
        closesAt: plan.closesAt,
        record,
        now: second,
      });
      if (closedUntil !== undefined && record.closedUntil === undefined) {
        closingAt = second;
        closedAt = Math.min(closedAt, second);
      }
      record = { ...record, closedUntil };
      if (!plan.cachesStreams)
        allowed = Math.min(allowed, allowStreams(readings, plan.dailyCap, record, second)?.bytes ?? Infinity);
    }
    const load = loadAt(second, usd);
    const isClosed = record.closedUntil !== undefined && second >= closingAt + FLAG_SECONDS;
    // Tasks end their streams, which the edge cannot.
    const sends =
      record.closedUntil === undefined ||
      second < closingAt + FLAG_SECONDS + (plan.cachesStreams ? UNDER_WAY_SECONDS : 0);
    const bytes = sends && sentBytes < allowed ? load.bytes : 0;
    sentBytes += bytes;
    usd += add('bytes', second, bytes);
    if (isClosed) {
      refusedUsd += (load.requests + load.links) * prices.edgeRequest;
      add('requests', second, load.requests + load.links);
      continue;
    }
    const links = Math.min(load.links, profile.apiRate, profile.resolverLimit / load.secondsPerLink);
    resolved += links;
    usd += add('requests', second, load.requests + load.links);
    usd += add('apiRequests', second, Math.min(load.links, profile.apiRate));
    usd += add('resolves', second, links);
    usd += add('resolverSeconds', second, links * load.secondsPerLink);
    if (bytes > 0 && second % MINUTE === 0) usd += add('taskMinutes', second, profile.maxTasks);
  }
  return { usd, refusedUsd, closedAt, bytes: sentBytes, links: resolved };
}

/** What a run of the guard can see. */
const visible = (
  metrics: Readonly<Record<MeterName, WatchedMetric>>,
  minutes: Readonly<Record<MeterName, readonly (readonly [number, number])[]>>,
  now: number,
): Reading[] =>
  METERS.map((name) => {
    const delay = name === 'bytes' || name === 'requests' ? METRIC_DELAY_MINUTES.edge : METRIC_DELAY_MINUTES.region;
    return { metric: metrics[name], minutes: minutes[name].filter(([at]) => at + delay * MINUTE <= now) };
  });

function metricsOf(prices: UnitPrices, { cachesStreams }: SpendingPlan): Record<MeterName, WatchedMetric> {
  const metric = (usd: number, unseenMinutes: number, isMetered = false): WatchedMetric => ({
    ...{ label: '', namespace: '', name: '', dimensions: {}, statistic: 'Sum' },
    ...{ usd, unseenMinutes, isMetered },
  });
  return {
    bytes: metric(prices.edgeByte, cachesStreams ? UNSEEN_MINUTES.edge : 0, !cachesStreams),
    requests: metric(prices.edgeRequest, UNSEEN_MINUTES.edge),
    resolverSeconds: metric(prices.resolverSecond, UNSEEN_MINUTES.region),
    resolves: metric(prices.resolve, UNSEEN_MINUTES.region),
    apiRequests: metric(prices.apiRequest, UNSEEN_MINUTES.region),
    taskMinutes: metric(prices.taskMinute, UNSEEN_MINUTES.region),
  };
}
