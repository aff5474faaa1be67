import { expect, it } from 'vitest';
import { untilAvailable } from '../src/track.ts';

it('untilAvailable waits again when its timer ends before the moment', async () => {
  const clock = [0, 9.75, 10];
  const now = () => clock.shift() ?? 10;
  const signal = new AbortController().signal;
  await untilAvailable({ availableAt: 0.01 }, { maxWaitMs: 10, now, signal });
  expect(clock).toEqual([]);
});
