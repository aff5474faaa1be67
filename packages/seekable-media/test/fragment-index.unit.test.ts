import { expect, it } from 'vitest';
import { type FragmentEntry, timeFragments } from '../src/virtual-mp4/layout-source.ts';

const entry = (offset: number, more: Partial<FragmentEntry> = {}): FragmentEntry => ({
  offset,
  bytes: 100,
  duration: 10,
  accessPoint: 0,
  ...more,
});
const timed = (...entries: readonly FragmentEntry[]) => timeFragments({ timescale: 5, startTime: 20, entries }, 300);

it('places fragments one behind the other, or where the index says, and accepts one without a duration', () => {
  const found = timed(entry(0), entry(100, { duration: 0 }), entry(200, { time: 40 }));
  expect(found.map(({ time, startSeconds, duration }) => [time, startSeconds, duration])).toEqual([
    [20, 4, 10],
    [30, 6, 10],
    [40, 8, 10],
  ]);
  expect(timed(entry(0, { duration: 0 })).map(({ duration }) => duration)).toEqual([0]);
});

it.each([
  ['no fragments', []],
  ['an end behind the file', [entry(201)]],
  ['fragments that overlap', [entry(0), entry(99)]],
  ['one without room for its boxes', [entry(0, { bytes: 15 })]],
  ['a time before the one in front', [entry(0), entry(100, { time: 19 })]],
  ['a duration below zero', [entry(0, { duration: -1 })]],
  ['a time that is no whole number', [entry(0, { duration: 0.5 })]],
])('refuses %s', (_, entries) => expect(() => timed(...entries)).toThrow('egment index'));
