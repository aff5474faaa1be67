import { type Profile, TASK_TARGETS } from '../config/index.ts';
import { type DailyLoad, TIMES } from './simulate-load.ts';
import type { Traffic } from './traffic.ts';

/** A limit and what the load needs of it. */
export interface Demand {
  readonly limit: string;
  readonly unit: string;
  readonly needed: number;
  readonly available: number;
  /** What raises it. */
  readonly raisedBy: string;
}

const DAY = 86_400;
const DAYS_PER_MONTH = 730 / 24;
/** Quotas of AWS for an account or distribution, before they are raised. */
const ACCOUNT_EXECUTIONS = 1_000;
const EDGE_BITS_PER_SECOND = 150e9;
const EDGE_REQUESTS = 250_000;
const TABLE_WRITES = 40_000;
/** Requests of the API that come with a resolve, and kilobytes that it writes. */
const API_REQUESTS_PER_RESOLVE = 3;
const WRITES_PER_RESOLVE = 13;
/** The limit whose need is that of `resolveRate`, also where the API exceeds its own first. */
const ROUTE_REQUESTS = 'requests of one route that resolves';
/** Size of a stream, and requests of one. */
const BYTES_PER_STREAM = 60e6;
const REQUESTS_PER_STREAM = 6;

/**
 * What a load needs at its busiest moment of everything that is limited, the most exceeded first: that one is met first as the
 * load grows.
 * @param usdPerDay by list prices
 */
export function findDemands(
  load: DailyLoad,
  { profile, usdPerDay }: { readonly profile: Profile; readonly usdPerDay: number },
): Demand[] {
  const { resolveRate, resolverLimit, apiRate, maxTasks, taskCpu, entriesAtOnce, dailyCap } = profile;
  const resolves = (load.resolves / DAY) * load.peakFactor;
  const bytes = (load.bytes / DAY) * load.peakFactor;
  const rounds = Math.ceil(load.entriesPerPlaylist / entriesAtOnce);
  const executions =
    resolves *
    ((1 - load.playlistShare) * TIMES.resolve +
      load.playlistShare *
        (1 + Math.min(entriesAtOnce, load.entriesPerPlaylist)) *
        Math.min(TIMES.deadline, rounds * TIMES.resolve));
  const cores = taskCpu / 1024;
  const tasks = (bytes * 60) / (TASK_TARGETS.bytesPerMinutePerCore * cores);
  const apiRequests = resolves * API_REQUESTS_PER_RESOLVE;
  const edgeRequests = apiRequests + (bytes / BYTES_PER_STREAM) * REQUESTS_PER_STREAM;
  const moreTasks =
    profile.streamHost === 'balanced' ? "maxTasks, and Fargate's quota of vCPUs" : 'profile=team or public';
  const rows: readonly (readonly [limit: string, unit: string, needed: number, available: number, raisedBy: string])[] =
    [
      [ROUTE_REQUESTS, 'a second', resolves, resolveRate, 'resolveRate'],
      ['executions of the resolver', 'at once', executions, resolverLimit, 'resolverConcurrency'],
      ['executions of an account', 'at once', executions, ACCOUNT_EXECUTIONS, "Lambda's quota of the account"],
      ['requests of the API', 'a second', apiRequests, apiRate, 'resolveRate'],
      ['stream tasks', 'tasks', tasks, maxTasks, moreTasks],
      ['spending', 'USD a day', usdPerDay, dailyCap, 'dailyCap'],
      ['bytes of a distribution', 'Gbit/s', (bytes * 8) / 1e9, EDGE_BITS_PER_SECOND / 1e9, "CloudFront's quota"],
      ['requests of a distribution', 'a second', edgeRequests, EDGE_REQUESTS, "CloudFront's quota"],
      ['writes of the table', 'KB a second', resolves * WRITES_PER_RESOLVE, TABLE_WRITES, "DynamoDB's quota"],
    ];
  const demands = rows.map(([limit, unit, needed, available, raisedBy]) => {
    return { limit, unit, needed, available, raisedBy };
  });
  const excess = ({ needed, available }: Demand) => needed / available;
  return demands.filter((demand) => Number.isFinite(excess(demand))).sort((a, b) => excess(b) - excess(a));
}

/** The load as traffic of a month, for the bill. @param taskHours of a day, beyond the permanent tasks */
export const toMonthly = (load: DailyLoad, taskHours: number): Traffic => ({
  name: 'this load',
  resolves: load.resolves * DAYS_PER_MONTH,
  streams: (load.bytes / BYTES_PER_STREAM) * DAYS_PER_MONTH,
  gigabytes: (load.bytes / 1e9) * DAYS_PER_MONTH,
  extraTaskHours: taskHours * DAYS_PER_MONTH,
  visitsPerDay: 0,
  meaning: `${load.resolves.toLocaleString('en-US')} links and ${(load.bytes / 1e12).toLocaleString('en-US')} TB a day`,
});

type RaisedSetting = 'resolveRate' | 'resolverConcurrency' | 'maxTasks' | 'dailyCap';

/** The settings that a load needs beyond those of its profile, as far as settings raise its limits. */
export function settingsFor(
  demands: readonly Demand[],
  { streamHost }: Profile,
): Partial<Record<RaisedSetting, number>> {
  const needed = (name: string) =>
    Math.max(
      0,
      ...demands
        .filter((each) => each.raisedBy.startsWith(name) && each.needed > each.available)
        .map((each) => each.needed),
    );
  const rates = demands.find(({ limit }) => limit === ROUTE_REQUESTS)?.needed ?? 0;
  return {
    ...(needed('resolveRate') > 0 && { resolveRate: Math.ceil(1.2 * rates) }),
    ...(needed('resolverConcurrency') > 0 && { resolverConcurrency: Math.ceil(1.2 * needed('resolverConcurrency')) }),
    ...(needed('maxTasks') > 0 && streamHost === 'balanced' && { maxTasks: Math.ceil(1.2 * needed('maxTasks')) }),
    ...(needed('dailyCap') > 0 && { dailyCap: Math.ceil(1.2 * needed('dailyCap')) }),
  };
}
