import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { collectWhenIdle } from '../../stream-service/idle-collection.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('collects garbage once each time that the event loop becomes idle after work', () => {
  let utilization = 0;
  const collect = vi.fn();
  const end = collectWhenIdle({ intervalMs: 1_000, utilization: () => utilization, collect });
  const pass = (intervals: number) => void vi.advanceTimersByTime(intervals * 1_000);
  const work = (share: number, intervals = 1) => {
    utilization = share;
    pass(intervals);
  };

  work(0, 5);
  expect(collect).not.toHaveBeenCalled();
  work(0.5, 3);
  expect(collect).not.toHaveBeenCalled();
  work(0.01, 5);
  expect(collect).toHaveBeenCalledTimes(1);
  work(0.9);
  work(0);
  expect(collect).toHaveBeenCalledTimes(2);
  end();
  work(0.9);
  work(0);
  expect(collect).toHaveBeenCalledTimes(2);
});

it('frees what nothing refers to', () => {
  let garbage: Buffer | undefined = Buffer.alloc(64e6, 1);
  const before = process.memoryUsage().arrayBuffers;
  garbage = undefined;
  let utilization = 1;
  const end = collectWhenIdle({ intervalMs: 1_000, utilization: () => utilization });
  vi.advanceTimersByTime(1_000);
  utilization = 0;
  vi.advanceTimersByTime(1_000);
  end();
  expect(process.memoryUsage().arrayBuffers).toBeLessThan(before - 60e6);
  expect(garbage).toBeUndefined();
});
