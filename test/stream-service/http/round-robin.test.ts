import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createRoundRobin } from '../../../stream-service/http/send-body.ts';

const QUANTUM = 100;
const TURN = 2 * QUANTUM;
const roundRobin = () => createRoundRobin({ turnBytes: TURN, quantumBytes: QUANTUM });

it('never stops the only member', () => {
  const only = roundRobin().join();
  expect([only.charge(10 * TURN), only.isTurnOver()]).toEqual([false, false]);
});

it('ends a turn for all members once its bytes are used up, and starts another', async () => {
  const { join } = roundRobin();
  const [first, second] = [join(), join()];
  expect([first.charge(TURN - 1), second.isTurnOver()]).toEqual([false, false]);
  expect([first.charge(1), second.isTurnOver(), second.charge(1)]).toEqual([true, true, true]);
  await nextTurn();
  expect([second.isTurnOver(), second.charge(1)]).toEqual([false, false]);
});

it('calls waiting members in order, as many per turn as it has quanta', async () => {
  const { join } = roundRobin();
  const called: number[] = [];
  for (const index of [0, 1, 2, 3, 4]) join().wait(() => called.push(index));
  const after: number[][] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    await nextTurn();
    after.push([...called]);
  }
  expect(after).toEqual([
    [0, 1],
    [0, 1, 2, 3],
    [0, 1, 2, 3, 4],
    [0, 1, 2, 3, 4],
  ]);
});

it('makes a member that used its quantum yield to waiting members only', async () => {
  const { join } = roundRobin();
  const [busy, other] = [join(), join()];
  expect(busy.charge(QUANTUM)).toBe(false);
  await nextTurn();
  // Two wait before it: it is not their turn yet when the next one begins.
  for (const member of [join(), join(), other]) member.wait(() => undefined);
  expect(busy.charge(QUANTUM - 1)).toBe(false);
  expect(busy.charge(1)).toBe(true);
});

it('counts the bytes of each turn separately', async () => {
  const { join } = roundRobin();
  const [busy, other] = [join(), join()];
  for (let turn = 0; turn < 5; turn += 1) {
    for (const member of [join(), join(), other]) member.wait(() => undefined);
    expect(busy.charge(QUANTUM - 1)).toBe(false);
    await nextTurn();
  }
});

it('shares evenly, however much each member has to move', async () => {
  const { join } = roundRobin();
  const moved = [0, 0, 0, 0, 0];
  const members = moved.map(() => join());
  const move = (index: number) => {
    let isEnough = false;
    while (!isEnough) {
      moved[index] = (moved[index] ?? 0) + 10;
      isEnough = members[index]?.charge(10) ?? true;
    }
    members[index]?.wait(() => move(index));
  };
  members.forEach((_, index) => void move(index));
  for (let turn = 0; turn < 200; turn += 1) await nextTurn();
  for (const member of members) member.leave();
  expect(Math.min(...moved)).toBeGreaterThan(50 * QUANTUM);
  expect(Math.max(...moved) - Math.min(...moved)).toBeLessThanOrEqual(TURN);
});

it('does not call a member that has left', async () => {
  const { join, members } = roundRobin();
  const [stays, leaves] = [join(), join()];
  const called: string[] = [];
  leaves.wait(() => called.push('left'));
  stays.wait(() => called.push('stayed'));
  leaves.leave();
  await nextTurn();
  expect([called, members()]).toEqual([['stayed'], 1]);
});
