import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FunctionFailed } from '../../bundled/bundled-function.ts';
import { InvokeRefused } from '../../bundled/invoke-api.ts';
import { type InvokeWorld, startInvokeWorld } from '../invoke-fakes.ts';

let world: InvokeWorld;
beforeAll(async () => {
  world = await startInvokeWorld();
});
afterAll(() => world.close());

let events: unknown[];
const forEver = new Promise<never>(() => undefined);
const patient = () => new AbortController().signal;
/** The function `other`; what it is given is kept. */
const play = (answer: (count: number) => Promise<unknown>) => {
  world.functions.set('other', (event) => answer(events.push(event)));
};
beforeEach(() => {
  events = [];
});

describe('calling another function', () => {
  it.each([{ a: [1, 'ü'] }, [], 'text', 0, false, null])('gives %j as it was answered', async (answer) => {
    play(async () => answer);
    expect(await world.invoker.call('other', { kind: 'entry' }, patient())).toEqual(answer);
    expect(events).toEqual([{ kind: 'entry' }]);
  });

  it('asks again when more run at once than the account may', async () => {
    play(async (count) => {
      if (count < 3) throw new InvokeRefused(429, 'TooManyRequestsException');
      return { count };
    });
    expect(await world.invoker.call('other', {}, patient())).toEqual({ count: 3 });
  });

  it('asks once of one that is not there, or may not be called', async () => {
    await expect(world.invoker.call('nobody', {}, patient())).rejects.toThrow('ResourceNotFoundException');
    play(async () => {
      throw new InvokeRefused(403, 'AccessDeniedException');
    });
    await expect(world.invoker.call('other', {}, patient())).rejects.toThrow('AccessDeniedException');
    expect(events).toHaveLength(1);
  });

  it('fails, in one line that names it, when the function does, and does not run it again', async () => {
    play(async () => {
      throw new FunctionFailed({ errorType: 'Runtime.ExitError', errorMessage: 'x'.repeat(5_000) });
    });
    const failure = await world.invoker.call('other', {}, patient()).catch(String);
    expect(failure).toMatch(/^Error: other failed: \{"errorType":"Runtime\.ExitError"/);
    expect(String(failure).length).toBeLessThan(300);
    expect(events).toHaveLength(1);
  });

  it('ends when nobody waits any more', async () => {
    const leaving = new AbortController();
    play(() => {
      leaving.abort();
      return forEver;
    });
    await expect(world.invoker.call('other', {}, leaving.signal)).rejects.toThrow(/abort/i);
  });
});

describe('telling another function', () => {
  it('waits for nothing but that it was heard', async () => {
    play(() => forEver);
    await world.invoker.tell('other', { kind: 'ahead' }, patient());
    expect(events).toEqual([{ kind: 'ahead' }]);
  });

  it('is not told what it came to', async () => {
    play(async () => {
      throw new FunctionFailed({ errorType: 'Error', errorMessage: 'broke' });
    });
    await expect(world.invoker.tell('other', {}, patient())).resolves.toBeUndefined();
  });

  it('is told when nobody heard', async () => {
    await expect(world.invoker.tell('nobody', {}, patient())).rejects.toThrow('ResourceNotFoundException');
  });
});
