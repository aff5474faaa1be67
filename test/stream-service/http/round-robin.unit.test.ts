import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRoundRobin } from '../../../stream-service/http/round-robin.ts';

const QUANTUM = 100;
const TURN = 2 * QUANTUM;

/** `join` without a client: a further stream of one client. */
function roundRobin() {
  const { join, ...more } = createRoundRobin({ turnBytes: TURN, quantumBytes: QUANTUM });
  return { join: (client = 'one') => join(client), ...more };
}
type Round = ReturnType<typeof roundRobin>;

/** Streams that have bytes to move until the test ends. @returns what has been moved so far, by client */
function moveEndlessly({ join }: Round, streams: Readonly<Record<string, number>>, chunkBytes = 10) {
  const moved: Record<string, number> = {};
  let isFinished = false;
  onTestFinished(() => {
    isFinished = true;
  });
  const members = Object.entries(streams).flatMap(([client, count]) =>
    Array.from({ length: count }, () => ({ client, member: join(client) })),
  );
  for (const { client, member } of members) {
    const move = () => {
      if (isFinished) return;
      do moved[client] = (moved[client] ?? 0) + chunkBytes;
      while (!member.charge(chunkBytes));
      member.wait(move);
    };
    move();
  }
  return moved;
}
async function turns(count: number) {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

it('never stops the only member', () => {
  const only = roundRobin().join();
  expect([only.charge(10 * TURN), only.mayMove()]).toEqual([false, true]);
});

it('ends a turn for all members once its bytes are used up, and starts another', async () => {
  const { join } = roundRobin();
  const [first, second] = [join(), join()];
  expect([first.charge(TURN - 1), second.mayMove()]).toEqual([false, true]);
  expect([first.charge(1), second.mayMove(), second.charge(1)]).toEqual([true, false, true]);
  await nextTurn();
  expect([second.mayMove(), second.charge(1)]).toEqual([true, false]);
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

it('gives a client with one stream more than one with twenty', async () => {
  const round = roundRobin();
  const moved = moveEndlessly(round, { one: 1, twenty: 20 });
  await turns(200);
  expect(moved.one).toBeGreaterThan(3 * (moved.twenty ?? 0));
  expect(moved.twenty).toBeGreaterThan(QUANTUM);
});

it('divides turns by client: two with a stream each move the same, and a third with many delays neither', async () => {
  const round = roundRobin();
  const moved = moveEndlessly(round, { first: 1, second: 1, many: 50 });
  await turns(300);
  const [first = 0, second = 0, many = 0] = [moved.first, moved.second, moved.many];
  expect(Math.abs(first - second)).toBeLessThanOrEqual(2 * QUANTUM);
  expect(Math.min(first, second)).toBeGreaterThan(2 * many);
});

it('leaves whole turns to a client that is alone', async () => {
  const moved = moveEndlessly(roundRobin(), { alone: 20 });
  await turns(100);
  expect(moved.alone).toBeGreaterThan(50 * TURN);
});

describe('while a short answer is prepared', () => {
  const MANY_BYTES = 10 * TURN;

  it('lets the streams of other clients move little', async () => {
    const { join, giveWayTo } = roundRobin();
    const stream = join('one');
    const end = giveWayTo('other');
    expect([stream.charge(TURN / 8), stream.mayMove()]).toEqual([true, false]);
    await new Promise<void>((resolve) => stream.wait(resolve));
    expect(stream.charge(TURN / 8)).toBe(true);
    end();
    expect(stream.charge(MANY_BYTES)).toBe(false);
  });

  it('does not slow down the streams of the same client', () => {
    const { join, giveWayTo } = roundRobin();
    giveWayTo('one');
    expect(join('one').charge(MANY_BYTES)).toBe(false);
  });

  it('ends by itself', async () => {
    const { join, giveWayTo } = roundRobin();
    const stream = join('one');
    giveWayTo('other');
    expect(stream.charge(MANY_BYTES)).toBe(true);
    await expect.poll(() => stream.charge(MANY_BYTES)).toBe(false);
  });

  it('does so for a client from time to time only', () => {
    const { join, giveWayTo } = roundRobin();
    for (let count = 0; count < 20; count += 1) giveWayTo('other')();
    giveWayTo('other');
    expect(join('one').charge(MANY_BYTES)).toBe(false);
    giveWayTo('third');
    expect(join('one').charge(MANY_BYTES)).toBe(true);
  });
});
