import { beforeEach, describe, expect, it } from 'vitest';
import { FunctionFailed } from '../../bundled/bundled-function.ts';
import { InvokeRefused } from '../../bundled/invoke-api.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { startInvokeFixture } from '../invoke-fakes.ts';

const invokeApi = closeAfterwards(await startInvokeFixture());

let events: unknown[];
const forEver = new Promise<never>(() => undefined);
const noAbort = () => new AbortController().signal;
/** Implements the function `other` and records its events. */
const implement = (answer: (count: number) => Promise<unknown>) => {
  invokeApi.functions.set('other', (event) => answer(events.push(event)));
};
beforeEach(() => {
  events = [];
});

describe('invoke', () => {
  it.each([{ a: [1, 'ü'] }, [], 'text', 0, false, null])('returns the response %j unchanged', async (answer) => {
    implement(async () => answer);
    expect(await invokeApi.invoker.invoke('other', { kind: 'entry' }, noAbort())).toEqual(answer);
    expect(events).toEqual([{ kind: 'entry' }]);
  });

  it('retries while the account is throttled', async () => {
    implement(async (count) => {
      if (count < 3) throw new InvokeRefused(429, 'TooManyRequestsException');
      return { count };
    });
    expect(await invokeApi.invoker.invoke('other', {}, noAbort())).toEqual({ count: 3 });
  });

  it('does not retry a function that does not exist or may not be invoked', async () => {
    await expect(invokeApi.invoker.invoke('unknown', {}, noAbort())).rejects.toThrow('ResourceNotFoundException');
    implement(async () => {
      throw new InvokeRefused(403, 'AccessDeniedException');
    });
    await expect(invokeApi.invoker.invoke('other', {}, noAbort())).rejects.toThrow('AccessDeniedException');
    expect(events).toHaveLength(1);
  });

  it('throws one line with the name of a function that fails, without a retry', async () => {
    implement(async () => {
      throw new FunctionFailed({ errorType: 'Runtime.ExitError', errorMessage: 'x'.repeat(5_000) });
    });
    const failure = await invokeApi.invoker.invoke('other', {}, noAbort()).catch(String);
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
    await expect(invokeApi.invoker.invoke('other', {}, leaving.signal)).rejects.toThrow(/abort/i);
  });
});

describe('invokeAsync', () => {
  it('resolves once Lambda has accepted the event', async () => {
    implement(() => forEver);
    await invokeApi.invoker.invokeAsync('other', { kind: 'ahead' }, noAbort());
    expect(events).toEqual([{ kind: 'ahead' }]);
  });

  it('does not report a failure of the function', async () => {
    implement(async () => {
      throw new FunctionFailed({ errorType: 'Error', errorMessage: 'broke' });
    });
    await expect(invokeApi.invoker.invokeAsync('other', {}, noAbort())).resolves.toBeUndefined();
  });

  it('rejects when the function does not exist', async () => {
    await expect(invokeApi.invoker.invokeAsync('unknown', {}, noAbort())).rejects.toThrow('ResourceNotFoundException');
  });
});
