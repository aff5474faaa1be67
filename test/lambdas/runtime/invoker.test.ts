import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createInvoker } from '../../../lambdas/invoker.ts';
import { FunctionFailed } from '../../bundled/bundled-function.ts';
import { InvokeRefused, startInvokeApi } from '../../bundled/invoke-api.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';

/** What the function `other` answers. */
let answerTo: (event: unknown) => Promise<unknown>;
const { endpoint } = closeAfterwards(
  await startInvokeApi((name) => (name === 'other' ? { invoke: (event) => answerTo(event) } : undefined)),
);
vi.stubEnv('AWS_REGION', 'eu-central-1');
vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
vi.stubEnv('AWS_ENDPOINT_URL_LAMBDA', endpoint);
afterAll(() => void vi.unstubAllEnvs());
const invoker = createInvoker();

let events: unknown[];
const forEver = new Promise<never>(() => undefined);
const noAbort = () => new AbortController().signal;
/** Implements the function `other` and records its events. */
const implement = (answer: (count: number) => Promise<unknown>) => {
  answerTo = (event) => answer(events.push(event));
};
beforeEach(() => {
  events = [];
});

describe('invoke', () => {
  it.each([{ a: [1, 'ü'] }, [], 'text', 0, false, null])('returns the response %j unchanged', async (answer) => {
    implement(async () => answer);
    expect(await invoker.invoke('other', { kind: 'entry' }, noAbort())).toEqual(answer);
    expect(events).toEqual([{ kind: 'entry' }]);
  });

  it('retries while the account is throttled', async () => {
    implement(async (count) => {
      if (count < 3) throw new InvokeRefused(429, 'TooManyRequestsException');
      return { count };
    });
    expect(await invoker.invoke('other', {}, noAbort())).toEqual({ count: 3 });
    implement(() => Promise.reject(new InvokeRefused(429, 'TooManyRequestsException')));
    // By this name the fan-out knows it.
    await expect(invoker.invoke('other', {}, noAbort())).rejects.toMatchObject({ name: 'TooManyRequestsException' });
  });

  it('does not retry a function that does not exist or may not be invoked', async () => {
    await expect(invoker.invoke('unknown', {}, noAbort())).rejects.toThrow('ResourceNotFoundException');
    implement(async () => {
      throw new InvokeRefused(403, 'AccessDeniedException');
    });
    await expect(invoker.invoke('other', {}, noAbort())).rejects.toThrow('AccessDeniedException');
    expect(events).toHaveLength(1);
  });

  it('throws one line with the name of a function that fails, without a retry', async () => {
    implement(async () => {
      throw new FunctionFailed({ errorType: 'Runtime.ExitError', errorMessage: 'x'.repeat(5_000) });
    });
    const failure = await invoker.invoke('other', {}, noAbort()).catch(String);
    expect(failure).toMatch(/^Error: other failed: \{"errorType":"Runtime\.ExitError"/);
    expect(String(failure).length).toBeLessThan(300);
    expect(events).toHaveLength(1);
  });

  it('rejects when the signal is aborted', async () => {
    const leaving = new AbortController();
    implement(() => {
      leaving.abort();
      return forEver;
    });
    await expect(invoker.invoke('other', {}, leaving.signal)).rejects.toThrow(/abort/i);
  });
});

describe('invokeAsync', () => {
  it('resolves once Lambda has accepted the event', async () => {
    implement(() => forEver);
    await invoker.invokeAsync('other', { kind: 'ahead' }, noAbort());
    expect(events).toEqual([{ kind: 'ahead' }]);
  });

  it('does not report a failure of the function', async () => {
    implement(async () => {
      throw new FunctionFailed({ errorType: 'Error', errorMessage: 'broke' });
    });
    await expect(invoker.invokeAsync('other', {}, noAbort())).resolves.toBeUndefined();
  });

  it('rejects when the function does not exist', async () => {
    await expect(invoker.invokeAsync('unknown', {}, noAbort())).rejects.toThrow('ResourceNotFoundException');
  });
});
