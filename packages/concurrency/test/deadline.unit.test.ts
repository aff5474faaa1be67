import { describe, expect, it } from 'vitest';
import { abortable, deadlineSignal, waitAtMost } from '../src/timing.ts';

const pending = () => Promise.withResolvers<void>().promise;

describe('waitAtMost', () => {
  it('resolves when the work is done', async () => {
    const work = Promise.withResolvers<void>();
    const waited = waitAtMost(work.promise, 60_000).then(() => 'done');
    expect(await Promise.race([waited, Promise.resolve('waits')])).toBe('waits');
    work.resolve();
    expect(await waited).toBe('done');
  });

  it.each([1, 0, -100])('resolves after %d ms when the work takes longer', async (timeoutMs) => {
    await waitAtMost(pending(), timeoutMs);
  });

  it('rejects when the work fails in time', async () => {
    await expect(waitAtMost(Promise.reject(new Error('no')), 60_000)).rejects.toThrow('no');
  });
});

describe('deadlineSignal', () => {
  it.each([10, 0, -1000])('aborts with a TimeoutError at a deadline %d ms away', async (milliseconds) => {
    const signal = deadlineSignal({ deadline: Date.now() + milliseconds, signal: new AbortController().signal });
    await expect.poll(() => signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('aborts with the reason of the caller', () => {
    const signal = AbortSignal.abort(new Error('left'));
    expect(deadlineSignal({ deadline: Date.now() + 60_000, signal }).reason).toMatchObject({ message: 'left' });
  });
});

describe('abortable', () => {
  it('settles like the work', async () => {
    const { signal } = new AbortController();
    expect(await abortable(Promise.resolve('a'), signal)).toBe('a');
    await expect(abortable(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
  });

  it('rejects with the reason of the signal, before or while it waits', async () => {
    await expect(abortable(pending(), AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    const leaving = new AbortController();
    const waiting = abortable(pending(), leaving.signal);
    leaving.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
  });
});
