import { describe, expect, it } from 'vitest';
import { AdaptiveParallelism, createReadAheadBudgets } from '../src/read-ahead.ts';

describe('AdaptiveParallelism', () => {
  /** A source with limits per connection and in total, in bytes per millisecond. */
  const play = (each: number, all: number, seconds: number, clientBlocks = false, isBusy = false) => {
    let time = 0;
    const connections = new AdaptiveParallelism(4, { now: () => time, isBusy: () => isBusy });
    const counts: number[] = [];
    for (; time < seconds * 1000; time += 50) {
      connections.setBlocked(clientBlocks && time % 100 === 0);
      connections.addBytes(50 * Math.min(each * connections.count, all));
      if (counts.at(-1) !== connections.count) counts.push(connections.count);
    }
    return counts;
  };

  it.each([
    ['throttles each', 4_000, 1e9, [1, 4]],
    ['is slow in all', 4_000, 4_000, [1, 4, 1]],
    ['gives twice as much to two', 4_000, 8_000, [1, 4]],
    ['is fast', 100_000, 1e9, [1]],
  ])('adapts to a source that %s', (_, each, all, counts) => expect(play(each, all, 20)).toEqual(counts));

  it('uses one connection while the client is the bottleneck', () => expect(play(4_000, 1e9, 20, true)).toEqual([1]));

  it('uses one connection while the event loop is the bottleneck', () =>
    expect(play(4_000, 1e9, 20, false, true)).toEqual([1]));

  it.each([
    ['the client waits for the source', false, false, 512 * 1024],
    ['the client is the bottleneck', true, false, 0],
    ['the event loop is the bottleneck', false, true, 0],
  ])('sizes leadBytes while %s', (_, clientBlocks, isBusy, lead) => {
    let time = 0;
    const connections = new AdaptiveParallelism(1, { now: () => time, isBusy: () => isBusy });
    expect(connections.leadBytes).toBe(128 * 1024);
    for (; time < 5000; time += 50) {
      connections.setBlocked(clientBlocks && time % 100 === 0);
      connections.addBytes(50 * 4_000);
    }
    expect(connections.leadBytes).toBe(lead);
  });

  it('measures blockedMs', () => {
    let time = 0;
    const connections = new AdaptiveParallelism(4, { now: () => time, isBusy: () => false });
    const at = (next: number, act: () => void) => {
      time = next;
      act();
      return connections.blockedMs;
    };
    expect([
      at(100, () => connections.setBlocked(true)),
      at(150, () => undefined),
      at(200, () => connections.setBlocked(true)),
      // Bytes that were on their way, and the end of a measurement.
      at(400, () => connections.addBytes(1000)),
      at(500, () => connections.setBlocked(false)),
      at(600, () => connections.addBytes(1000)),
      at(700, () => connections.setBlocked(true)),
      at(710, () => connections.setBlocked(false)),
    ]).toEqual([0, 50, 100, 300, 400, 400, 400, 410]);
  });

  it('stays at one connection after reduceToOne', () => {
    let time = 0;
    const connections = new AdaptiveParallelism(4, { now: () => time, isBusy: () => false });
    for (; time < 5000; time += 50) connections.addBytes(200_000 * connections.count);
    expect(connections.count).toBe(4);
    connections.reduceToOne();
    for (; time < 20_000; time += 50) connections.addBytes(200_000);
    expect(connections.count).toBe(1);
  });
});

it('leaves half of the memory for reading ahead to other clients', () => {
  const budgetOf = createReadAheadBudgets(100);
  expect(budgetOf('a').tryReserve(40)).toBe(true);
  expect(budgetOf('a').tryReserve(20)).toBe(false);
  expect(budgetOf('b').tryReserve(50)).toBe(true);
  expect(budgetOf('c').tryReserve(20)).toBe(false);
  budgetOf('a').release(40);
  expect(budgetOf('c').tryReserve(20)).toBe(true);
});
