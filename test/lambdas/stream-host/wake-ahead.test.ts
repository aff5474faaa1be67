import middy from '@middy/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Event, Result } from '../../../lambdas/http-handler.ts';
import { wakeAhead } from '../../../lambdas/stream-host/wake.ts';
import { eventOf } from '../fakes.ts';

interface Invocation {
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

function createFixture(invoke: (invocation: Invocation) => Promise<void> = async () => undefined) {
  const invocations: Invocation[] = [];
  const logged: string[] = [];
  const answers = { statusCode: 200 };
  const note = (message: string) => void logged.push(message);
  const middleware = wakeAhead({
    wakeFunction: 'wake',
    invoker: {
      invokeAsync: (name, event, signal) => {
        invocations.push({ name, event, signal });
        return invoke({ name, event, signal });
      },
    },
    log: { info: note, warn: note, error: note },
  });
  const handler = middy<Event, Result>()
    .use(middleware)
    .handler(async () => ({ ...answers }));
  const ask = (path = '/api/Fetch/GetResource', body = '') => handler({ ...eventOf(path), body }, {} as never);
  return { answers, ask, logged, invocations };
}

describe('wakeAhead', () => {
  const message = (method: string) => JSON.stringify({ id: 1, method });
  it.each<[answer: number, isWoken: boolean, path?: string, body?: string]>([
    [200, true],
    // A redirect to a stream.
    [302, true],
    ...[204, 304, 400, 404, 405, 415, 500, 502, 503].map((status): [number, boolean] => [status, false]),
    // A feed, which clients read every hour.
    [200, false, '/API/Feed'],
    // Each client begins with these messages.
    ...['initialize', 'tools/list', 'ping'].map((each): [number, boolean, string, string] => [
      200,
      false,
      '/mcp',
      message(each),
    ]),
    [200, true, '/mcp', message('tools/call')],
  ])('after %d the stream host is woken: %s, %s %s', async (statusCode, isWoken, path, body) => {
    const { answers, ask, invocations } = createFixture();
    answers.statusCode = statusCode;
    expect(await ask(path, body)).toEqual({ statusCode });
    const expected = { name: 'wake', event: { kind: 'ahead' }, signal: expect.any(AbortSignal) };
    expect(invocations).toEqual(isWoken ? [expected] : []);
  });

  it('wakes it at most once every 30 s', async () => {
    const { ask, invocations } = createFixture();
    await Promise.all([ask(), ask(), ask()]);
    seconds += 29;
    await ask();
    expect(invocations).toHaveLength(1);
    seconds += 1;
    await ask();
    expect(invocations).toHaveLength(2);
  });

  it('leaves the response unchanged when the invocation fails, and repeats it with the next response', async () => {
    let broken = true;
    const { ask, logged, invocations } = createFixture(async () => {
      if (broken) throw new Error('throttled');
    });
    expect(await ask()).toEqual({ statusCode: 200 });
    expect(logged).toEqual(['Failed to invoke the wake function']);
    broken = false;
    await ask();
    await ask();
    expect([invocations.length, logged.length]).toEqual([2, 1]);
  });

  it('delays the response by at most 2 s when the invocation hangs', async () => {
    const timeoutController = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeoutController.signal);
    const invoked = Promise.withResolvers<void>();
    const { ask, logged } = createFixture(({ signal }) => {
      invoked.resolve();
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    const answer = ask();
    await invoked.promise;
    timeoutController.abort();
    expect(await answer).toEqual({ statusCode: 200 });
    expect(logged).toHaveLength(1);
    // A resolve takes up to 25 s, and its function times out after 29 s.
    expect(timeout.mock.calls[0]?.[0]).toBeLessThanOrEqual(2_000);
  });
});
