import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { wakingAhead } from '../../../lambdas/stream-host/wake-ahead.ts';
import { eventOf } from '../fakes.ts';

interface Telling {
  readonly name: string;
  readonly event: unknown;
  readonly signal: AbortSignal;
}

let seconds: number;
beforeEach(() => {
  seconds = 1;
  vi.spyOn(performance, 'now').mockImplementation(() => seconds * 1000);
});
afterEach(() => vi.restoreAllMocks());

function setUp(tell: (telling: Telling) => Promise<void> = async () => undefined) {
  const told: Telling[] = [];
  const logged: string[] = [];
  const answers = { statusCode: 200 };
  const note = (message: string) => void logged.push(message);
  const handler = wakingAhead(async () => ({ ...answers }), {
    wakeFunction: 'wake',
    invoker: {
      tell: (name, event, signal) => {
        told.push({ name, event, signal });
        return tell({ name, event, signal });
      },
    },
    log: { info: note, warn: note, error: note },
  });
  const ask = () => handler(eventOf('/api/Fetch/GetResource'), {} as never);
  return { answers, ask, logged, told };
}

describe('the stream host', () => {
  it('is woken once an answer gave keys', async () => {
    const { ask, told } = setUp();
    expect(await ask()).toEqual({ statusCode: 200 });
    expect(told).toEqual([{ name: 'wake', event: { kind: 'ahead' }, signal: expect.any(AbortSignal) }]);
  });

  it.each([204, 400, 404, 405, 415, 500, 502, 503])('is left alone after %d', async (statusCode) => {
    const { answers, ask, told } = setUp();
    answers.statusCode = statusCode;
    await ask();
    expect(told).toEqual([]);
  });

  it('is told once in a while, however many ask, and again after it', async () => {
    const { ask, told } = setUp();
    await Promise.all([ask(), ask(), ask()]);
    seconds += 29;
    await ask();
    expect(told).toHaveLength(1);
    seconds += 1;
    await ask();
    expect(told).toHaveLength(2);
  });

  it('costs nothing when it cannot be told, and is told again by the next', async () => {
    let broken = true;
    const { ask, logged, told } = setUp(async () => {
      if (broken) throw new Error('throttled');
    });
    expect(await ask()).toEqual({ statusCode: 200 });
    expect(logged).toEqual(['The stream host could not be woken ahead']);
    broken = false;
    await ask();
    await ask();
    expect([told.length, logged.length]).toEqual([2, 1]);
  });

  it('keeps nobody waiting when it does not listen', async () => {
    const patience = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(patience.signal);
    const { ask, logged } = setUp(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const answer = ask();
    await vi.waitUntil(() => timeout.mock.calls.length > 0, { interval: 1 });
    patience.abort();
    expect(await answer).toEqual({ statusCode: 200 });
    expect(logged).toHaveLength(1);
    // Of the second or two that separate the 25 s of a resolve from the 29 s of its function.
    expect(timeout.mock.calls[0]?.[0]).toBeLessThanOrEqual(2_000);
  });
});
