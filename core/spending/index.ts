/** A CloudWatch metric whose values cost money in proportion. */
export interface WatchedMetric {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  /** @default the stack's */
  readonly region?: string;
  readonly statistic: 'Sum' | 'SampleCount';
  /** USD for one unit of the statistic. */
  readonly usd: number;
  /**
   * Minutes whose use is not visible yet when it is acted on: the delay of the metric, the interval of the guard, and what is
   * under way when it closes. 0: something else bounds it meanwhile.
   */
  readonly unseenMinutes: number;
  /** Whether stream hosts count it themselves before they spend it, and stop at what is left. */
  readonly isMetered?: boolean;
  /** Without a value of one of these for half an hour nothing happens, and the others are not read. */
  readonly isDoor?: boolean;
}

/** The values of a metric by minute. */
export interface Reading {
  readonly metric: WatchedMetric;
  /** Epoch seconds of the start of a minute, and the statistic of that minute. */
  readonly minutes: readonly (readonly [at: number, value: number])[];
}

/** Periods with a cap, by UTC. */
export type Period = 'hour' | 'day' | 'month';

/** USD by period. */
export type Caps = Readonly<Record<Period, number>>;

/** USD of one period. */
export interface Spending {
  /** What the metrics show. */
  readonly spent: number;
  /** And what may have been spent since, at the highest rate of the last minutes that they show. */
  readonly expected: number;
}

/** What an operator has allowed by opening the edge by hand: what had been spent by then counts no longer. */
interface Forgiven {
  /** Epoch seconds of the start of the period. */
  readonly since: number;
  readonly usd: number;
}

/** Epoch seconds of the start of a month and of a day in it, and what was spent before that day and in it. */
interface MonthCount {
  readonly since: number;
  readonly day: number;
  readonly before: number;
  readonly today: number;
}

/** What the guard remembers, and what stream hosts read of it. Empty: never closed. */
export interface GuardRecord {
  /** Names what was read, for the write that replaces it. */
  readonly revision?: string | undefined;
  /** Epoch seconds until which the edge is closed. */
  readonly closedUntil?: number | undefined;
  /** The store with the flag that closes the edge. */
  readonly flaggedIn?: string | undefined;
  /** Whether the distribution is disabled. */
  readonly isOff?: boolean | undefined;
  readonly forgiven?: Readonly<Partial<Record<Period, Forgiven>>> | undefined;
  /** USD of the month that began `since`, of the `day` that it was last seen in and of those `before` it. */
  readonly month?: MonthCount | undefined;
  /** Bytes that streams may send in the day that began `since`: what other spending leaves of its cap. */
  readonly streams?: { readonly since: number; readonly bytes: number } | undefined;
}

/** Events of the schedule have nothing that is read. */
export interface GuardEvent {
  /** Opens the edge now, and counts spending from here on. */
  readonly open?: boolean;
  /** Set by the alarm on CloudFront's own count: closes and disables the edge, whatever is measured. */
  readonly alarmArn?: string;
}

/** What an invocation of the guard has found. */
export interface GuardReport {
  /** ISO 8601; null: the edge is open. */
  readonly closedUntil: string | null;
  readonly spending: Readonly<Record<Period, Spending>>;
  readonly caps: Caps;
}

const PERIODS = ['hour', 'day', 'month'] as const;
const SECONDS = { hour: 3_600, day: 86_400 } as const;
/** Visible minutes among which the highest rate is looked for. */
const RATE_MINUTES = 5;

/** Epoch seconds of the start of the period that contains `now`. */
export const periodStart = (period: Period, now: number): number =>
  period === 'month' ? monthStart(now, 0) : now - (now % SECONDS[period]);

/** Epoch seconds of the end of the period that contains `now`. */
export const periodEnd = (period: Period, now: number): number =>
  period === 'month' ? monthStart(now, 1) : periodStart(period, now) + SECONDS[period];

function monthStart(now: number, later: number): number {
  const date = new Date(now * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later) / 1000;
}

/** The count of the month with what the metrics show of today, which is less where some were not read. */
export function countMonth(known: MonthCount | undefined, spentToday: number, now: number): MonthCount {
  const since = periodStart('month', now);
  const day = periodStart('day', now);
  if (known?.since !== since) return { since, day, before: 0, today: spentToday };
  if (known.day !== day) return { since, day, before: known.before + known.today, today: spentToday };
  return { ...known, today: Math.max(known.today, spentToday) };
}

/** Spending of the current hour and day. @param now epoch seconds */
export function measureSpending(readings: readonly Reading[], now: number): Readonly<Record<'hour' | 'day', Spending>> {
  const unseen = readings.reduce((usd, reading) => usd + unseenUsd(reading, now), 0);
  const measure = (period: 'hour' | 'day'): Spending => {
    const since = periodStart(period, now);
    const spent = readings.reduce(
      (usd, { metric, minutes }) =>
        usd + minutes.reduce((sum, [at, value]) => sum + (at >= since && at <= now ? value : 0), 0) * metric.usd,
      0,
    );
    return { spent, expected: spent + unseen };
  };
  return { hour: measure('hour'), day: measure('day') };
}

/** What a metric may not show yet, if its use goes on at its highest visible rate. */
function unseenUsd({ metric: { usd, unseenMinutes }, minutes }: Reading, now: number): number {
  const since = now - (unseenMinutes + RATE_MINUTES) * 60;
  const highest = minutes.reduce((most, [at, value]) => (at >= since ? Math.max(most, value) : most), 0);
  return highest * usd * unseenMinutes;
}

interface DecisionInput {
  readonly spending: Readonly<Record<Period, Spending>>;
  readonly caps: Caps;
  /** USD a day from which on the edge closes whatever the rate: what one burst could cost unseen is left of the bound. */
  readonly closesAt: number;
  readonly record: GuardRecord;
  /** Epoch seconds. */
  readonly now: number;
}

/**
 * Whether the edge is closed, and until when. Once closed it stays so until the end of that period, also when the rate falls:
 * it falls because the edge is closed. A cap of a longer period prolongs what that of a shorter one has closed.
 * @returns epoch seconds until which the edge is closed; undefined: it is open
 */
export function decideOnSpending({ spending, caps, closesAt, record, now }: DecisionInput): number | undefined {
  const held = (record.closedUntil ?? 0) > now ? record.closedUntil : undefined;
  const isExceeded = (period: Period) => {
    const { spent, expected } = spending[period];
    const { since, usd } = record.forgiven?.[period] ?? { since: 0, usd: 0 };
    const forgiven = since === periodStart(period, now) ? usd : 0;
    return expected - forgiven >= caps[period] || (period === 'day' && spent - forgiven >= closesAt);
  };
  const exceeded = PERIODS.filter(isExceeded).at(-1);
  const end = exceeded && periodEnd(exceeded, now);
  return end !== undefined && end > (held ?? 0) ? end : held;
}

/**
 * The readings with what stream hosts have counted by themselves, where CloudFront does not show it yet.
 * @param sentBytes of the day
 */
export const withSentBytes = (readings: readonly Reading[], sentBytes: number, now: number): Reading[] =>
  readings.map((reading) => {
    const { metric, minutes } = reading;
    if (!metric.isMetered) return reading;
    const since = periodStart('day', now);
    const shown = minutes.reduce((sum, [at, value]) => sum + (at >= since ? value : 0), 0);
    return sentBytes > shown ? { metric, minutes: [...minutes, [now, sentBytes - shown] as const] } : reading;
  });

/** What other spending of the day leaves of its cap for streams; undefined where stream hosts have no limit of their own. */
export function allowStreams(
  readings: readonly Reading[],
  cap: number,
  record: GuardRecord,
  now: number,
): GuardRecord['streams'] {
  const price = readings.find(({ metric }) => metric.isMetered)?.metric.usd ?? 0;
  if (price <= 0) return undefined;
  const others = measureSpending(
    readings.filter(({ metric }) => !metric.isMetered),
    now,
  ).day.expected;
  const since = periodStart('day', now);
  const forgiven = record.forgiven?.day?.since === since ? record.forgiven.day.usd : 0;
  return { since, bytes: Math.max(0, Math.floor((cap + forgiven - others) / price)) };
}
