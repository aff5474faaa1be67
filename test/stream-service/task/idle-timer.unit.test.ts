import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { createIdleTimer } from '../../../stream-service/task/idle-timer.ts';

const MINUTE_MS = 60_000;
beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const start = (idleMinutes: number) => {
  const onIdle = vi.fn(async () => undefined);
  const idle = createIdleTimer({ idleMinutes, onIdle, log: silentLog });
  return { onIdle, begin: () => idle.onStreamStart(() => 0), close: idle.close };
};

describe('createIdleTimer', () => {
  it('calls onIdle once, idleMinutes after the start', () => {
    const { onIdle } = start(15);
    vi.advanceTimersByTime(15 * MINUTE_MS - 1);
    expect(onIdle).not.toHaveBeenCalled();
    vi.advanceTimersByTime(60 * MINUTE_MS);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it('waits for running streams, then idleMinutes after the last one', () => {
    const { onIdle, begin } = start(15);
    vi.advanceTimersByTime(14 * MINUTE_MS);
    const [one, other] = [begin(), begin()];
    vi.advanceTimersByTime(600 * MINUTE_MS);
    one();
    vi.advanceTimersByTime(600 * MINUTE_MS);
    other();
    vi.advanceTimersByTime(15 * MINUTE_MS - 1);
    expect(onIdle).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it('restarts with every stream', () => {
    const { onIdle, begin } = start(15);
    for (let round = 0; round < 3; round++) {
      begin()();
      vi.advanceTimersByTime(14 * MINUTE_MS);
    }
    expect(onIdle).not.toHaveBeenCalled();
  });

  it('calls onIdle again after as long when it fails, unless a stream runs', async () => {
    const { onIdle, begin } = start(15);
    onIdle.mockRejectedValue(new Error('unreachable'));
    await vi.advanceTimersByTimeAsync(30 * MINUTE_MS);
    expect(onIdle).toHaveBeenCalledTimes(2);
    const end = begin();
    await vi.advanceTimersByTimeAsync(60 * MINUTE_MS);
    expect(onIdle).toHaveBeenCalledTimes(2);
    end();
    await vi.advanceTimersByTimeAsync(15 * MINUTE_MS);
    expect(onIdle).toHaveBeenCalledTimes(3);
  });

  it('does not call onIdle while a stream runs, after another one within a call that failed', async () => {
    const { onIdle, begin } = start(15);
    const call = Promise.withResolvers<undefined>();
    onIdle.mockReturnValueOnce(call.promise);
    await vi.advanceTimersByTimeAsync(15 * MINUTE_MS);
    begin()();
    call.reject(new Error('unreachable'));
    await vi.advanceTimersByTimeAsync(MINUTE_MS);
    begin();
    await vi.advanceTimersByTimeAsync(60 * MINUTE_MS);
    expect(onIdle).toHaveBeenCalledTimes(1);
  });

  it('never calls onIdle with idleMinutes 0', () => {
    const { onIdle, begin } = start(0);
    begin()();
    vi.advanceTimersByTime(10_000 * MINUTE_MS);
    expect(onIdle).not.toHaveBeenCalled();
  });

  it('does not call onIdle after close and leaves no timer', () => {
    const { onIdle, begin, close } = start(1);
    const end = begin();
    close();
    end();
    vi.advanceTimersByTime(10 * MINUTE_MS);
    expect([onIdle.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
  });
});
