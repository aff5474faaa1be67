import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createIdle } from '../../../stream-service/task/idle.ts';

const MINUTE = 60_000;
beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const start = (minutes: number) => {
  const onIdle = vi.fn();
  const idle = createIdle({ minutes, onIdle });
  return { onIdle, begin: () => idle.onStreamStart(() => 0), close: idle.close };
};

describe('an idle task', () => {
  it('is told so once, its time after the start', () => {
    const { onIdle } = start(15);
    vi.advanceTimersByTime(15 * MINUTE - 1);
    expect(onIdle).not.toHaveBeenCalled();
    vi.advanceTimersByTime(60 * MINUTE);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it('is never told so while a stream runs, and its whole time after the last one', () => {
    const { onIdle, begin } = start(15);
    vi.advanceTimersByTime(14 * MINUTE);
    const [one, other] = [begin(), begin()];
    vi.advanceTimersByTime(600 * MINUTE);
    one();
    vi.advanceTimersByTime(600 * MINUTE);
    other();
    vi.advanceTimersByTime(15 * MINUTE - 1);
    expect(onIdle).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it('waits again from the beginning when a stream came in between', () => {
    const { onIdle, begin } = start(15);
    for (let round = 0; round < 3; round++) {
      begin()();
      vi.advanceTimersByTime(14 * MINUTE);
    }
    expect(onIdle).not.toHaveBeenCalled();
  });

  it('stays for ever with 0 minutes', () => {
    const { onIdle, begin } = start(0);
    begin()();
    vi.advanceTimersByTime(10_000 * MINUTE);
    expect(onIdle).not.toHaveBeenCalled();
  });

  it('is not told so once it ends for another reason', () => {
    const { onIdle, begin, close } = start(1);
    const end = begin();
    close();
    end();
    vi.advanceTimersByTime(10 * MINUTE);
    expect([onIdle.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
  });
});
