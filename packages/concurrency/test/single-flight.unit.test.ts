import { describe, expect, it } from 'vitest';
import { createSingleFlight } from '../src/cache.ts';

function controlled() {
  const flights = createSingleFlight<string>();
  const runs: { signal: AbortSignal; finish: (value: string) => void; fail: (error: Error) => void }[] = [];
  const run = (signal?: AbortSignal) =>
    flights('key', (shared) => new Promise((finish, fail) => void runs.push({ signal: shared, finish, fail })), signal);
  return { run, runs };
}

describe('createSingleFlight', () => {
  it('runs once for concurrent callers, and again for a later one', async () => {
    const { run, runs } = controlled();
    const results = [run(), run(), run()];
    runs[0]?.finish('a');
    expect(await Promise.all(results)).toEqual(['a', 'a', 'a']);
    const later = run();
    runs[1]?.finish('b');
    expect(await later).toBe('b');
    expect(runs).toHaveLength(2);
  });

  it('continues while one caller still waits', async () => {
    const { run, runs } = controlled();
    const leaving = new AbortController();
    const left = run(leaving.signal);
    const stays = run();
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(runs[0]?.signal.aborted).toBe(false);
    runs[0]?.finish('a');
    expect(await stays).toBe('a');
  });

  it('aborts when the last caller leaves, and starts a new run for the next caller', async () => {
    const { run, runs } = controlled();
    const leaving = new AbortController();
    const waiting = [run(leaving.signal), run(leaving.signal)];
    leaving.abort(new Error('left'));
    await Promise.allSettled(waiting);
    expect(runs[0]?.signal.aborted).toBe(true);
    const newcomer = run();
    runs[0]?.fail(new Error('cancelled'));
    runs[1]?.finish('b');
    expect(await newcomer).toBe('b');
  });

  it('rejects every caller when the work fails', async () => {
    const { run, runs } = controlled();
    const results = [run(), run()];
    runs[0]?.fail(new Error('no'));
    expect((await Promise.allSettled(results)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('does not start for a caller that is already aborted', async () => {
    const { run, runs } = controlled();
    await expect(run(AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    expect(runs).toHaveLength(0);
  });
});
