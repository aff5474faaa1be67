import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import type { GuardRecord } from '../../../core/spending/index.ts';
import { createByteBudget } from '../../../stream-service/task/byte-budget.ts';

const MB = 1024 * 1024;
const NOON = Date.parse('2026-11-23T12:00:00Z');
const MIDNIGHT = Date.parse('2026-11-23T00:00:00Z') / 1000;

beforeEach(() => {
  vi.useFakeTimers({ now: NOON });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A task that may send 100 MB a day with others, and its table. */
function createFixture({ bytesADay = (100 * MB) as number | undefined } = {}) {
  const table = { sum: 0, record: {} as GuardRecord, isFailing: false, isGuardFailing: false };
  const reasons: (string | undefined)[] = [];
  const budget = createByteBudget({
    state: {
      addStreamBytes: async (bytes) => {
        if (table.isFailing) throw new Error('No answer');
        table.sum += bytes;
        return table.sum;
      },
      getCostGuard: async () => {
        if (table.isGuardFailing) throw new Error('No answer');
        return table.record;
      },
    },
    bytesADay,
    suspend: (reason) => void reasons.push(reason),
    log: silentLog,
  });
  const stream = () => {
    const sent = { bytes: 500 };
    return { sent, end: budget.onStreamStart(() => sent.bytes) };
  };
  const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000);
  return { table, reasons, budget, stream, pass };
}

describe('createByteBudget', () => {
  it('reports what all streams have sent, at once from 32 MB on and else after half a minute', async () => {
    const { table, stream, pass, budget } = createFixture();
    const [first, second] = [stream(), stream()];
    first.sent.bytes += 40 * MB;
    await pass(1);
    expect(table.sum).toBe(40 * MB);
    second.sent.bytes += 1 * MB;
    await pass(20);
    expect(table.sum).toBe(40 * MB);
    first.sent.bytes += 2 * MB;
    first.end();
    second.end();
    await pass(10);
    expect(table.sum).toBe(43 * MB);
    budget.close();
  });

  it('suspends streams at the limit of the day, which other tasks share, and resumes on the next one', async () => {
    const { table, stream, pass, reasons, budget } = createFixture();
    table.sum = 90 * MB;
    const { sent } = stream();
    sent.bytes += 33 * MB;
    await pass(1);
    expect(reasons).toEqual(['The spending limit of this instance is reached']);
    await pass(60);
    expect(reasons).toHaveLength(1);
    table.sum = 0;
    await pass(30);
    expect(reasons.at(-1)).toBeUndefined();
    budget.close();
  });

  it('keeps to what the guard allows of the same day', async () => {
    const { table, stream, pass, reasons, budget } = createFixture();
    table.record = { streams: { since: MIDNIGHT, bytes: 30 * MB } };
    const { sent } = stream();
    sent.bytes += 33 * MB;
    await pass(1);
    expect(reasons).toHaveLength(1);
    table.record = { streams: { since: MIDNIGHT - 86_400, bytes: 30 * MB } };
    await pass(30);
    expect(reasons.at(-1)).toBeUndefined();
    budget.close();
  });

  it.each([undefined, 100 * MB])(
    'ends streams while the guard has closed the edge, of %s bytes a day',
    async (bytesADay) => {
      const { table, stream, pass, reasons, budget } = createFixture({ bytesADay });
      const { end } = stream();
      table.record = { closedUntil: NOON / 1000 + 45 };
      await pass(30);
      expect(reasons).toEqual(['The spending limit of this instance is reached']);
      end();
      await pass(30);
      expect(reasons.at(-1)).toBeUndefined();
      expect(reasons).toHaveLength(2);
      if (bytesADay === undefined) expect(table.sum).toBe(0);
      budget.close();
    },
  );

  it('counts bytes once, although the record of the guard could not be read', async () => {
    const { table, stream, pass, reasons, budget } = createFixture();
    table.isGuardFailing = true;
    const { sent } = stream();
    sent.bytes += 40 * MB;
    await pass(2);
    table.isGuardFailing = false;
    await pass(1);
    expect([table.sum, reasons]).toEqual([40 * MB, []]);
    budget.close();
  });

  it('suspends streams when the table does not count them any more, and counts them later', async () => {
    const { table, stream, pass, reasons, budget } = createFixture({ bytesADay: 5_000 * MB });
    table.isFailing = true;
    const { sent } = stream();
    sent.bytes += 512 * MB;
    await pass(1);
    expect(reasons).toEqual([]);
    sent.bytes += 1;
    await pass(1);
    expect(reasons).toEqual(['The bytes of streams cannot be counted']);
    table.isFailing = false;
    await pass(1);
    expect(reasons.at(-1)).toBeUndefined();
    expect(table.sum).toBe(512 * MB + 1);
    budget.close();
  });

  it('does not ask the table while nothing is sent', async () => {
    const { table, pass, budget } = createFixture();
    table.isFailing = true;
    await pass(300);
    budget.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});
