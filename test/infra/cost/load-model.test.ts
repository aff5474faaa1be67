import { describe, expect, it } from 'vitest';
import { profiles } from '../../../infra/config/profiles.ts';
import { findDemands, settingsFor, toMonthly } from '../../../infra/cost/load-model.ts';
import { type DailyLoad, shareOf, simulateLoad, TIMES } from '../../../infra/cost/simulate-load.ts';

const DAY = 86_400;
const LOAD: DailyLoad = { resolves: 100_000, bytes: 1e12, peakFactor: 1, playlistShare: 0, entriesPerPlaylist: 25 };
/** Limits that nothing reaches. */
const WIDE = {
  ...{ resolveRate: 1e6, resolveBurst: 1e6, resolverLimit: 1e6, entriesAtOnce: 24 },
  ...{ taskCpu: 1024, minTasks: 2, maxTasks: 1_000 },
};
/** Bytes that a task of one core sends in a second. */
const PER_TASK = 60e6;

describe('shareOf', () => {
  it.each([1, 2, 3, 8])('is 1 on average, and at noon %i', (peak) => {
    let sum = 0;
    for (let second = 0; second < DAY; second += 60) sum += shareOf(second, peak);
    expect(sum / 1440).toBeCloseTo(1, 3);
    expect(shareOf(DAY / 2, peak)).toBeCloseTo(peak, 3);
  });
});

describe('simulateLoad', () => {
  it('is the same for the same seed, and another day for another', () => {
    const day = (seed: number) => simulateLoad(LOAD, WIDE, seed);
    expect(day(1)).toEqual(day(1));
    expect(day(2).arrived).not.toBe(day(1).arrived);
  });

  it('serves everything within the limits, with as many executions as arrivals times their duration', () => {
    const day = simulateLoad(LOAD, WIDE);
    expect(day.arrived / LOAD.resolves).toBeCloseTo(1, 1);
    expect([day.resolved, day.throttled, day.withoutExecution]).toEqual([day.arrived, 0, 0]);
    const mean = (day.resolved / DAY) * TIMES.resolve;
    expect(day.meanExecutions / mean).toBeGreaterThan(0.98);
    expect(day.meanExecutions / mean).toBeLessThan(1.1);
    expect(day.bytesSent).toBeCloseTo(LOAD.bytes, -6);
  });

  it('resolves as many as the rate admits beyond it', () => {
    const day = simulateLoad({ ...LOAD, resolves: 1e6 }, { ...WIDE, resolveRate: 5, resolveBurst: 5 });
    expect(day.resolved / (5 * DAY)).toBeCloseTo(1, 2);
    expect(day.resolved + day.throttled).toBe(day.arrived);
  });

  it('resolves as many as the executions finish beyond them', () => {
    const day = simulateLoad({ ...LOAD, resolves: 4e6 }, { ...WIDE, resolverLimit: 20 });
    expect(day.mostExecutions).toBe(20);
    expect(day.resolved / ((20 / TIMES.resolve) * DAY)).toBeCloseTo(1, 1);
    expect(day.coldStarts / day.resolved).toBeLessThan(0.01);
  });

  it('needs executions for the entries of playlists at once', () => {
    const single = simulateLoad(LOAD, WIDE).meanExecutions;
    const lists = simulateLoad({ ...LOAD, playlistShare: 1 }, WIDE).meanExecutions;
    // 25 entries, 24 at once: two rounds.
    expect(lists / single).toBeCloseTo(25 * 2, -1);
  });

  it('starts cold for whoever comes after an idle time', () => {
    const { coldStarts, resolved } = simulateLoad({ ...LOAD, resolves: 20 }, WIDE);
    expect(coldStarts / resolved).toBeGreaterThan(0.7);
    expect(simulateLoad({ ...LOAD, resolves: 1e6 }, WIDE).coldStarts / 1e6).toBeLessThan(0.01);
  });

  it('scales tasks with the bytes up to their limit, later than they are needed', () => {
    const bytes = 10 * PER_TASK * DAY;
    const steady = simulateLoad({ ...LOAD, bytes }, WIDE);
    expect(steady.mostTasks).toBe(10);
    expect(steady.bytesLate).toBeCloseTo(8 * PER_TASK * TIMES.taskStart, -9);
    const full = simulateLoad({ ...LOAD, bytes }, { ...WIDE, maxTasks: 4 });
    expect(full.mostTasks).toBe(4);
    expect(full.bytesSent / bytes).toBeCloseTo(0.4, 2);
    expect(full.taskHours).toBeCloseTo(4 * 24, 0);
  });
});

describe('findDemands', () => {
  const of = (load: DailyLoad, usdPerDay = 1) => findDemands(load, { profile: profiles.public, usdPerDay });

  it('names the limit that is exceeded most, and what raises it', () => {
    const million: DailyLoad = { ...LOAD, resolves: 1e6, bytes: 1e14, peakFactor: 3, playlistShare: 0.05 };
    const exceeded = of(million, 3_000).filter(({ needed, available }) => needed > available);
    expect(exceeded.map(({ limit }) => limit)).toEqual([
      'spending',
      'executions of the resolver',
      'stream tasks',
      'requests of one route that resolves',
      'requests of the API',
    ]);
    expect(exceeded[3]).toMatchObject({
      needed: expect.closeTo((3 * 1e6) / DAY, 6),
      available: 20,
      raisedBy: 'resolveRate',
    });
  });

  it('finds nothing exceeded by what a profile is for', () => {
    const load = { ...LOAD, resolves: 33_000, bytes: 1.3e12, peakFactor: 3 };
    expect(of(load, 127).filter(({ needed, available }) => needed > available)).toEqual([]);
  });

  it('gives settings with which no limit of a setting is exceeded', () => {
    const million: DailyLoad = { ...LOAD, resolves: 1e6, bytes: 1e14, peakFactor: 3, playlistShare: 0.05 };
    const settings = settingsFor(of(million, 3_000), profiles.public);
    expect(settings).toMatchObject({ resolveRate: 42, dailyCap: 3_600 });
    const raised = {
      ...profiles.public,
      ...settings,
      resolverLimit: settings.resolverConcurrency ?? 0,
      apiRate: 5 * (settings.resolveRate ?? 0),
    };
    const left = findDemands(million, { profile: raised, usdPerDay: 3_000 }).filter(
      (each) => each.needed > each.available,
    );
    expect(left).toEqual([]);
    expect(settingsFor(of(LOAD), profiles.public)).toEqual({});
  });
});

it('toMonthly takes a month of such days', () =>
  expect(toMonthly({ ...LOAD, bytes: 3e12 }, 48)).toMatchObject({
    resolves: expect.closeTo((100_000 * 730) / 24, 3),
    gigabytes: expect.closeTo((3_000 * 730) / 24, 3),
    extraTaskHours: expect.closeTo(48 * (730 / 24), 3),
  }));
