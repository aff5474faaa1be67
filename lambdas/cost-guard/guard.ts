import type { Log } from '../../core/log/index.ts';
import {
  allowStreams,
  type Caps,
  countMonth,
  decideOnSpending,
  type GuardRecord,
  measureSpending,
  type Period,
  periodStart,
  type Reading,
  type Spending,
  type WatchedMetric,
  withSentBytes,
} from '../../core/spending/index.ts';
import type { State } from '../../core/state/index.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { EdgeFlag } from './edge-flag.ts';
import type { MetricReader } from './metric-reader.ts';

export interface CostGuardOptions {
  readonly watched: readonly WatchedMetric[];
  readonly caps: Caps;
  /** USD a day from which on the edge closes whatever the rate. */
  readonly closesAt: number;
  readonly readMetric: MetricReader;
  readonly state: Pick<State, 'getCostGuard' | 'putCostGuard' | 'countStreamBytes'>;
  readonly flag: EdgeFlag;
  /** Of what is behind the edge: the resolver and the API. */
  readonly limits: readonly ConcurrencyLimit[];
  /** Executions of further functions, reserved once by each process. */
  readonly reservations: readonly ConcurrencyLimit[];
  /** Sends a mail. Absent: nobody is told. */
  readonly notify?: ((subject: string, text: string) => Promise<unknown>) | undefined;
  readonly log: Log;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** `open`: opens the edge now, and counts spending from here on. Events of the schedule have nothing that is read. */
export interface GuardEvent {
  readonly open?: boolean;
}

/** What an invocation has found. */
export interface GuardReport {
  /** ISO 8601; null: the edge is open. */
  readonly closedUntil: string | null;
  readonly spending: Readonly<Record<Period, Spending>>;
  readonly caps: Caps;
}

const MINUTE = 60;
/** CloudFront's metrics are minutes late. */
const QUIET_MINUTES = 30;
/** What the month may have more than is written, as a share of a day's cap: a write each minute is billed too. */
const UNCOUNTED_SHARE = 0.01;

/**
 * Compares spending with its caps, each minute. Over a cap the edge answers 503 and the resolver does not run, until the
 * period ends. Each run repairs what an earlier one has left undone: the flag and the limit are set before the record is
 * written.
 * @returns the handler. It throws the error of whatever fails, and the next minute tries again
 */
export function createCostGuard(options: CostGuardOptions) {
  const { watched, caps, closesAt, readMetric, state, flag, limits, notify, log, now = Date.now } = options;
  let isReserved = false;

  const readAll = async (seconds: number, isClosed: boolean): Promise<Reading[]> => {
    const since = periodStart('day', seconds);
    const isMetered = watched.some((metric) => metric.isMetered);
    const sentBytes = isMetered ? await state.countStreamBytes() : 0;
    const read = (metric: WatchedMetric) => readMetric(metric, since, seconds);
    const doors = await Promise.all(watched.filter(({ isDoor }) => isDoor).map(read));
    const isBusy = doors.some(({ minutes }) => minutes.some(([at]) => at >= seconds - QUIET_MINUTES * MINUTE));
    if (!isBusy && !isClosed && sentBytes === 0) return doors;
    const others = await Promise.all(watched.filter(({ isDoor }) => !isDoor).map(read));
    return withSentBytes([...doors, ...others], sentBytes, seconds);
  };

  const limitAll = async (isClosed: boolean) => {
    for (const limit of limits) await limit.apply(isClosed);
  };

  const reserve = async () => {
    if (isReserved) return;
    try {
      for (const reservation of options.reservations) await reservation.apply(false);
      isReserved = true;
    } catch (error) {
      // The next minute tries again: the caps matter more.
      log.warn('Failed to reserve executions', { error });
    }
  };

  const tell = async (subject: string, text: string) => {
    log.warn(subject, { text });
    // Whoever is not told sees it in the dashboard.
    await notify?.(subject, text).catch((error: unknown) => log.error('Failed to send the mail', { error }));
  };

  const open = async (record: GuardRecord, spending: GuardReport['spending'], seconds: number) => {
    const forgive = (period: Period) => ({ since: periodStart(period, seconds), usd: spending[period].expected });
    await flag.set(undefined);
    await limitAll(false);
    const forgiven = { hour: forgive('hour'), day: forgive('day'), month: forgive('month') };
    await state.putCostGuard({ forgiven, month: record.month });
    if (record.closedUntil !== undefined) await tell('Reelay is open again', 'It was opened by hand.');
  };

  return async (event: GuardEvent): Promise<GuardReport> => {
    const seconds = Math.floor(now() / 1000);
    const record = await state.getCostGuard();
    const readings = await readAll(seconds, record.closedUntil !== undefined || event.open === true);
    const measured = measureSpending(readings, seconds);
    const month = countMonth(record.month, measured.day.spent, seconds);
    const ofMonth = { spent: month.before + month.today, expected: month.before + measured.day.expected };
    const spending = { ...measured, month: ofMonth };
    const report = (closedUntil: number | undefined): GuardReport => ({
      closedUntil: closedUntil === undefined ? null : new Date(closedUntil * 1000).toISOString(),
      spending,
      caps,
    });
    if (event.open) {
      await open({ ...record, month }, spending, seconds);
      return report(undefined);
    }
    const { closedUntil, closedBy } = decideOnSpending({ spending, caps, closesAt, record, now: seconds });
    const isNew = closedUntil !== record.closedUntil;
    const flaggedIn = closedUntil === undefined ? undefined : flag.storeArn;
    const isElsewhere = flaggedIn !== record.flaggedIn;
    if (closedUntil !== undefined && (isNew || isElsewhere)) await flag.set(closedUntil);
    await limitAll(closedUntil !== undefined);
    await reserve();
    const forgiven = record.forgiven?.month?.since === month.since ? record.forgiven.month.usd : 0;
    const capOfDay = Math.min(caps.day, Math.max(0, caps.month + forgiven - month.before));
    const streams = allowStreams(readings, capOfDay, record, seconds);
    const counted = record.month?.day === month.day ? record.month.today : 0;
    const isMore = month.today - counted >= UNCOUNTED_SHARE * caps.day;
    if (isNew || isElsewhere || isMore || (spending.day.spent > 0 && streams))
      await state.putCostGuard({ ...record, closedUntil, flaggedIn, streams, month });
    if (closedBy && isNew)
      await tell('Reelay is closed: its spending limit is reached', describe(spending, caps, report(closedUntil)));
    else if (isNew) await tell('Reelay is open again', 'The period of its spending limit has ended.');
    if (spending.hour.spent > 0 || closedUntil !== undefined)
      log.info('Spending', {
        spentThisHour: spending.hour.spent,
        spentToday: spending.day.spent,
        expectedToday: spending.day.expected,
        capToday: caps.day,
        closed: closedUntil === undefined ? 0 : 1,
      });
    return report(closedUntil);
  };
}

const describe = (spending: GuardReport['spending'], caps: Caps, { closedUntil }: GuardReport): string =>
  [
    `By the metrics $${spending.hour.expected.toFixed(2)} this hour (limit $${caps.hour}), $${spending.day.expected.toFixed(2)} today (limit $${caps.day}) and $${spending.month.expected.toFixed(2)} this month (limit $${caps.month}), by list prices.`,
    `All requests are answered 503 until ${closedUntil}. To open it before: npm run infra -- reopen`,
  ].join('\n');
