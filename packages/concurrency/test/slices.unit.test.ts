import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { collectInSlices, ownTurn } from '../src/timing.ts';

describe('collectInSlices', () => {
  it('returns to the event loop after each slice, and collects everything in order', async () => {
    let turns = 0;
    const seen: number[] = [];
    const count = async () => {
      for (; turns < 100; turns++) await setImmediate();
    };
    const steps = function* () {
      for (let step = 0; step < 5; step++) {
        seen.push(turns);
        yield step;
      }
    };
    const [, collected] = await Promise.all([count(), collectInSlices(steps(), 0)]);
    expect(collected).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(seen).size).toBe(5);
  });

  it('takes one turn for short work', async () => {
    let hasReturned = false;
    const returned = setImmediate().then(() => {
      hasReturned = true;
    });
    expect(await collectInSlices([1, 2, 3], 10_000)).toEqual([1, 2, 3]);
    expect(hasReturned).toBe(false);
    await returned;
  });
});

describe('ownTurn', () => {
  it('gives each of several callers a turn of the event loop, in their order', async () => {
    let turns = 0;
    const count = async () => {
      for (; turns < 100; turns++) await setImmediate();
    };
    const seen: [caller: number, turn: number][] = [];
    const call = async (caller: number) => {
      await ownTurn();
      seen.push([caller, turns]);
    };
    await Promise.all([count(), ...[1, 2, 3].map(call)]);
    expect(seen.map(([caller]) => caller)).toEqual([1, 2, 3]);
    expect(new Set(seen.map(([, turn]) => turn)).size).toBe(3);
  });
});
