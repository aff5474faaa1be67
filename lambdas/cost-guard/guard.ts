import type { Log } from '../../core/log/index.ts';
import {
  allowStreams,
  type Caps,
  countMonth,
  decideOnSpending,
  type GuardEvent,
  type GuardRecord,
  type GuardReport,
  measureSpending,
  type Period,
  periodEnd,
  periodStart,
  type Reading,
  type WatchedMetric,
  withSentBytes,
} from '../../core/spending/index.ts';
import type { State } from '../../core/state/index.ts';
import type { HostStore } from '../stream-host/index.ts';
import type { EdgeSwitch } from './edge-switch.ts';
import type { Limit } from './limits.ts';
import type { MetricReader } from './metric-reader.ts';

interface CostGuardOptions {
  readonly watched: readonly WatchedMetric[];
  readonly caps: Caps;
  /** USD a day from which on the edge closes whatever the rate. */
  readonly closesAt: number;
  readonly readMetric: MetricReader;
  readonly state: Pick<State, 'getCostGuard' | 'putCostGuard' | 'countStreamBytes'>;
  /**
   * `CLOSED_KEY` with the end of the closure in epoch seconds, after which the edge ignores it. A change of the stream host replaces the
   * store by an empty one.
   */
  readonly flag: Pick<HostStore, 'storeArn' | 'write'>;
  readonly switchEdge: EdgeSwitch;
  /** Of what is behind the edge (the resolver, the API and the on-demand stream host), and of the guard itself. */
  readonly limits: readonly Limit[];
  /** Sends a mail. Absent: nobody is told. */
  readonly notify?: ((subject: string, text: string) => Promise<unknown>) | undefined;
  readonly log: Log;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** The key of the key-value store for which the edge function answers 503. */
export const CLOSED_KEY = 'closed';

const MINUTE = 60;
/** CloudFront's metrics are minutes late. */
const QUIET_MINUTES = 30;
/** Caps of a day at which the closed edge is disabled: what it refuses is billed too. */
const OFF_AT_CAPS = 1.5;
/** What the month may have more than is written, as a share of a day's cap: a write each minute is billed too. */
const UNCOUNTED_SHARE = 0.01;
/** How long the edge stays closed by a flag that no record tells of. */
const UNRECORDED_SECONDS = 2 * MINUTE;

/**
 * Compares spending with its caps, each minute. Over a cap the edge answers 503 and the resolver does not run, until the
 * period ends. Each run repairs what an earlier one has left undone: the record says first that the edge closes and last that it
 * is closed, and last that it is open.
 * @returns the handler. A failure to switch the distribution or to send the mail is logged, others are thrown; the next minute tries again
 */
export function createCostGuard(options: CostGuardOptions) {
  const { watched, caps, closesAt, readMetric, state, flag, switchEdge, limits, notify, log, now = Date.now } = options;
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

  /** Whether the distribution is to be disabled: once it is, until the edge opens. */
  const isRefused = (
    { isOff, forgiven }: GuardRecord,
    { day }: GuardReport['spending'],
    closedUntil: number | undefined,
    seconds: number,
  ): boolean => {
    if (closedUntil === undefined) return false;
    const { since, usd } = forgiven?.day ?? { since: 0, usd: 0 };
    const spent = day.spent - (since === periodStart('day', seconds) ? usd : 0);
    return isOff === true || spent >= OFF_AT_CAPS * caps.day;
  };

  /** @returns the new revision @throws Error when a run at the same time, as one by hand, has written: what this one has read is outdated */
  const write = async (record: GuardRecord): Promise<string> => {
    const revision = await state.putCostGuard(record);
    if (revision === undefined) throw new Error('Another run has written the record of the guard meanwhile');
    return revision;
  };

  /** Undefined: it cannot be changed now, as during a deployment, and the next minute tries again. */
  const trySwitch = (isOn: boolean): Promise<boolean | undefined> =>
    switchEdge(isOn).catch((error: unknown) => {
      log.error('Failed to switch the distribution', { error });
      return undefined;
    });

  const tell = async (subject: string, text: string) => {
    log.warn(subject, { text });
    // Whoever is not told sees it in the dashboard.
    await notify?.(subject, text).catch((error: unknown) => log.error('Failed to send the mail', { error }));
  };

  const open = async (record: GuardRecord, spending: GuardReport['spending'], seconds: number) => {
    const forgive = (period: Period) => ({ since: periodStart(period, seconds), usd: spending[period].expected });
    // Where this does not end, the next run closes again what it has opened.
    const revision =
      record.closedUntil === undefined ? record.revision : await write({ ...record, flaggedIn: undefined });
    // Without a record of it where the alarm has disabled it while the table failed.
    await (record.isOff ? switchEdge : trySwitch)(true);
    await flag.write(undefined);
    for (const limit of limits) await limit(false);
    const forgiven = { hour: forgive('hour'), day: forgive('day'), month: forgive('month') };
    await write({ revision, forgiven, month: record.month });
    if (record.closedUntil !== undefined) await tell('Reelay is open again', 'It was opened by hand.');
  };

  /** Reads nothing before: the table, or what is measured, may be what has failed. The runs of the schedule do what is left. */
  const brake = async (seconds: number) => {
    const done = await Promise.allSettled([switchEdge(false), ...limits.map((limit) => limit(true))]);
    const record = await state.getCostGuard();
    const closedUntil = Math.max(record.closedUntil ?? 0, periodEnd('day', seconds));
    await write({ ...record, closedUntil, flaggedIn: undefined, isOff: true });
    await tell('Reelay is off: its spending limit was not kept', OFF);
    const failed = done.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    if (failed.length > 0) throw new AggregateError(failed, failed.join('; '));
  };

  return async (event: GuardEvent): Promise<GuardReport> => {
    const seconds = Math.floor(now() / 1000);
    if (event.alarmArn) await brake(seconds);
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
    const closedUntil = decideOnSpending({ spending, caps, closesAt, record, now: seconds });
    const isNew = closedUntil !== record.closedUntil;
    const flaggedIn = closedUntil === undefined ? undefined : flag.storeArn;
    const isElsewhere = flaggedIn !== record.flaggedIn;
    const isClosed = closedUntil !== undefined;
    const wasOff = record.isOff === true;
    const isOff = isRefused(record, spending, closedUntil, seconds);
    // What can be closed is closed, whatever fails.
    const errors: unknown[] = [];
    const attempt = (step: Promise<unknown>) =>
      step.then(
        () => true,
        (error: unknown) => {
          errors.push(error);
          return false;
        },
      );
    const closing = { ...record, closedUntil, flaggedIn: isNew ? undefined : record.flaggedIn, isOff };
    let { revision } = record;
    const announce = async () => {
      revision = await write(closing);
    };
    const isRecorded = !(isClosed && (isNew || isOff !== wasOff)) || (await attempt(announce()));
    if (isClosed && (isNew || isElsewhere))
      await attempt(
        flag.write(String(isRecorded ? closedUntil : Math.max(record.closedUntil ?? 0, seconds + UNRECORDED_SECONDS))),
      );
    const failedLimits: unknown[] = [];
    for (const limit of limits) await limit(isClosed).catch((error: unknown) => failedLimits.push(error));
    const isSwitched = isRecorded && (isOff || wasOff) ? await trySwitch(!isOff) : false;
    if (errors.length > 0) throw errors[0];
    // Until it is known to be enabled.
    const staysOff = isOff || isSwitched === undefined;
    const forgiven = record.forgiven?.month?.since === month.since ? record.forgiven.month.usd : 0;
    const capOfDay = Math.min(caps.day, Math.max(0, caps.month + forgiven - month.before));
    const streams = allowStreams(readings, capOfDay, record, seconds);
    const counted = record.month?.day === month.day ? record.month.today : 0;
    const isMore = month.today - counted >= UNCOUNTED_SHARE * caps.day;
    if (isNew || isElsewhere || staysOff !== wasOff || isMore || (spending.day.spent > 0 && streams))
      await write({ ...record, revision, closedUntil, flaggedIn, isOff: staysOff, streams, month });
    if (isSwitched && isOff) await tell('Reelay is off: requests that it refused have a price', OFF);
    if (isClosed && (isNew || record.flaggedIn === undefined))
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
    // Every run applies the limits again, so a failed one is not stored in the record.
    if (failedLimits.length > 0) throw new AggregateError(failedLimits, failedLimits.join('; '));
    return report(closedUntil);
  };
}

const OFF =
  'The distribution of CloudFront is disabled until the period ends. To enable it before: npm run infra -- reopen';

const describe = (spending: GuardReport['spending'], caps: Caps, { closedUntil }: GuardReport): string =>
  [
    `By the metrics $${spending.hour.expected.toFixed(2)} this hour (limit $${caps.hour}), $${spending.day.expected.toFixed(2)} today (limit $${caps.day}) and $${spending.month.expected.toFixed(2)} this month (limit $${caps.month}), by list prices.`,
    `All requests are answered 503 until ${closedUntil}. To open it before: npm run infra -- reopen`,
  ].join('\n');
