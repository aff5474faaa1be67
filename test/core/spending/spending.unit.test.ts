import { describe, expect, it } from 'vitest';
import {
  type Caps,
  countMonth,
  decideOnSpending,
  type GuardRecord,
  measureSpending,
  type WatchedMetric,
} from '../../../core/spending/index.ts';

const CAPS: Caps = { hour: 2, day: 10, month: 30 };
const metric = (usd: number, unseenMinutes = 0): WatchedMetric => ({
  namespace: 'n',
  name: 'm',
  dimensions: {},
  statistic: 'Sum',
  usd,
  unseenMinutes,
});
const at = (time: string) => Date.parse(`2026-11-23T${time}Z`) / 1000;
const spending = (hour: number, day: number, unseen = 0, before = 0) => ({
  hour: { spent: hour, expected: hour + unseen },
  day: { spent: day, expected: day + unseen },
  month: { spent: before + day, expected: before + day + unseen },
});
const decide = (spent: ReturnType<typeof spending>, now: string, record: GuardRecord = {}) =>
  decideOnSpending({ spending: spent, caps: CAPS, closesAt: 9, record, now: at(now) });

describe('measureSpending', () => {
  it('sums the values of the hour and of the day by their prices', () => {
    const readings = [
      { metric: metric(2), minutes: [[at('00:00:00'), 1] as const, [at('11:59:00'), 1] as const] },
      { metric: metric(1), minutes: [[at('12:00:00'), 5] as const] },
    ];
    expect(measureSpending(readings, at('12:30:00'))).toEqual({
      hour: { spent: 5, expected: 5 },
      day: { spent: 9, expected: 9 },
    });
  });

  it('expects that what is not visible yet goes on at the highest rate of the last visible minutes', () => {
    const minutes = [
      [at('11:00:00'), 100],
      [at('12:20:00'), 1],
      [at('12:21:00'), 3],
      [at('12:22:00'), 2],
    ] as const;
    const { hour, day } = measureSpending([{ metric: metric(1, 7), minutes }], at('12:28:30'));
    expect(hour).toEqual({ spent: 6, expected: 6 + 7 * 3 });
    expect(day).toEqual({ spent: 106, expected: 106 + 7 * 3 });
  });

  it('is nothing without values', () =>
    expect(measureSpending([{ metric: metric(1, 7), minutes: [] }], at('12:00:00')).day).toEqual({
      spent: 0,
      expected: 0,
    }));
});

describe('countMonth', () => {
  it('adds the days of a month, and begins anew with the next', () => {
    const date = (text: string) => Date.parse(text) / 1000;
    const first = countMonth(undefined, 3, date('2026-11-30T12:00:00Z'));
    expect(first).toMatchObject({ before: 0, today: 3 });
    expect(countMonth(first, 2, date('2026-11-30T12:01:00Z'))).toEqual(first);
    expect(countMonth(first, 4, date('2026-11-30T12:01:00Z'))).toMatchObject({ before: 0, today: 4 });
    expect(countMonth(first, 1, date('2026-12-01T00:00:00Z'))).toMatchObject({ before: 0, today: 1 });
    const early = countMonth(undefined, 3, date('2026-12-30T12:00:00Z'));
    const next = countMonth(early, 1, date('2026-12-31T12:00:00Z'));
    expect(next).toMatchObject({ since: date('2026-12-01T00:00:00Z'), before: 3, today: 1 });
    expect(countMonth(next, 1, date('2027-01-01T12:00:00Z'))).toMatchObject({ before: 0, today: 1 });
  });
});

describe('decideOnSpending', () => {
  it('is open below the caps', () => expect(decide(spending(1.99, 8.99), '12:30:00')).toBeUndefined());

  it('closes until the end of the hour at its cap, and until midnight at that of the day', () => {
    expect(decide(spending(2, 5), '12:30:00')).toBe(at('13:00:00'));
    expect(decide(spending(0, 9), '12:30:00')).toBe(at('24:00:00'));
    expect(decide(spending(2, 9), '23:59:59')).toBe(at('24:00:00'));
  });

  it('closes until the end of the month at its cap', () => {
    const end = Date.parse('2026-12-01T00:00:00Z') / 1000;
    expect(decide(spending(0, 1, 0, 28.9), '12:30:00')).toBeUndefined();
    expect(decide(spending(0, 1, 0, 29), '12:30:00')).toBe(end);
  });

  it('closes for what is expected', () => expect(decide(spending(0.5, 8, 2), '12:30:00')).toBe(at('24:00:00')));

  it('stays closed until the period ends, although nothing is spent meanwhile', () => {
    const record = { closedUntil: at('13:00:00') };
    expect(decide(spending(0, 0), '12:59:59', record)).toBe(at('13:00:00'));
    expect(decide(spending(0, 0), '13:00:00', record)).toBeUndefined();
  });

  it('does not close again for the period that closes it, and prolongs that of the hour to the day', () => {
    const record = { closedUntil: at('13:00:00') };
    expect(decide(spending(3, 5), '12:31:00', record)).toBe(at('13:00:00'));
    expect(decide(spending(3, 9), '12:31:00', record)).toBe(at('24:00:00'));
  });

  it('does not count what was spent when it was opened by hand, in that period alone', () => {
    const forgiven = { hour: { since: at('12:00:00'), usd: 3 }, day: { since: at('00:00:00'), usd: 9 } };
    expect(decide(spending(3.5, 9.5), '12:40:00', { forgiven })).toBeUndefined();
    expect(decide(spending(5, 11), '12:50:00', { forgiven })).toBe(at('13:00:00'));
    expect(decide(spending(2, 11), '13:50:00', { forgiven })).toBe(at('14:00:00'));
    expect(decide(spending(1, 18), '13:50:00', { forgiven })).toBe(at('24:00:00'));
  });
});
