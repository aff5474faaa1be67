import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import type { GuardRecord, WatchedMetric } from '../../../core/spending/index.ts';
import { createCostGuard } from '../../../lambdas/cost-guard/index.ts';

const metric = (label: string, isDoor: boolean, isMetered = false): WatchedMetric => ({
  label,
  namespace: 'n',
  name: label,
  dimensions: {},
  statistic: 'Sum',
  usd: 1,
  unseenMinutes: 0,
  isDoor,
  isMetered,
});
const NOON = Date.parse('2026-11-23T12:00:00Z');
const ONE_O_CLOCK = NOON / 1000 + 3600;

/** A guard with caps of $2 an hour and $10 a day, and one dollar for each unit of its metrics. */
function createFixture({
  email = true,
  failing = '',
  isMetered = false,
  reserves = false,
  caps = { hour: 2, day: 10, month: 100 },
} = {}) {
  const world = {
    values: { requests: [] as [number, number][], bytes: [] as [number, number][] },
    record: {} as GuardRecord,
    now: NOON,
    sentBytes: 0,
    failing,
    storeArn: 'store-1',
  };
  const done: unknown[] = [];
  const act = (name: string, ...rest: unknown[]) => {
    done.push([name, ...rest]);
    if (world.failing === name) throw new Error(`${name} failed`);
  };
  const guard = createCostGuard({
    watched: [metric('requests', true), metric('bytes', false, isMetered)],
    caps,
    closesAt: 9,
    readMetric: async (each) => {
      done.push(['read', each.label]);
      return { metric: each, minutes: world.values[each.label as 'bytes'] };
    },
    state: {
      countStreamBytes: async () => world.sentBytes,
      getCostGuard: async () => world.record,
      putCostGuard: async (record) => {
        // What has been spent so far is no news.
        const { closedUntil, flaggedIn } = world.record;
        if (record.closedUntil !== closedUntil || record.flaggedIn !== flaggedIn) act('record', record.closedUntil);
        world.record = record;
      },
    },
    flag: {
      get storeArn() {
        return world.storeArn;
      },
      set: async (until) => act('flag', until),
    },
    limits: [{ apply: async (isClosed) => act('limit', isClosed) }],
    reservations: reserves ? [{ apply: async (isClosed) => act('reserve', isClosed) }] : [],
    notify: email ? async (subject) => act('mail', subject) : undefined,
    log: silentLog,
    now: () => world.now,
  });
  const spend = (usd: number) => {
    world.values.requests.push([world.now / 1000, 0.01]);
    world.values.bytes.push([world.now / 1000, usd]);
  };
  const acts = () => done.splice(0).filter((each) => (each as string[])[0] !== 'read');
  return { world, done, guard, spend, acts };
}

describe('the cost guard', () => {
  it('reads no more than the doors while nobody uses the service', async () => {
    const { guard, done, world } = createFixture();
    await guard({});
    expect(done).toEqual([
      ['read', 'requests'],
      ['limit', false],
    ]);
    world.values.requests = [[NOON / 1000 - 31 * 60, 5]];
    done.length = 0;
    await guard({});
    expect(done).toEqual([
      ['read', 'requests'],
      ['limit', false],
    ]);
  });

  it('closes the edge and the resolver over a cap, remembers it, and says so once', async () => {
    const { guard, spend, acts } = createFixture();
    spend(1);
    await guard({});
    expect(acts()).toEqual([['limit', false]]);
    spend(1);
    expect(await guard({})).toMatchObject({ closedUntil: '2026-11-23T13:00:00.000Z' });
    expect(acts()).toEqual([
      ['flag', ONE_O_CLOCK],
      ['limit', true],
      ['record', ONE_O_CLOCK],
      ['mail', 'Reelay is closed: its spending limit is reached'],
    ]);
    await guard({});
    expect(acts()).toEqual([['limit', true]]);
  });

  it('counts what stream hosts have sent before CloudFront shows it, and tells them what is left', async () => {
    const { guard, spend, world } = createFixture({ isMetered: true });
    world.sentBytes = 1;
    await guard({});
    expect(world.record).toMatchObject({ streams: { since: NOON / 1000 - 12 * 3600, bytes: 10 } });
    spend(1);
    world.values.requests.push([NOON / 1000, 0.8]);
    expect(await guard({})).toMatchObject({ closedUntil: null });
    expect(world.record.streams?.bytes).toBe(9);
    world.sentBytes = 1.5;
    expect(await guard({})).toMatchObject({ closedUntil: '2026-11-23T13:00:00.000Z' });
  });

  it('leaves streams no more than is left of the month', async () => {
    const { guard, spend, world } = createFixture({ isMetered: true, caps: { hour: 99, day: 10, month: 12 } });
    spend(8);
    await guard({});
    world.now += 86_400_000;
    world.sentBytes = 1;
    await guard({});
    expect(world.record.streams?.bytes).toBe(3);
  });

  it('closes the edge again when a deployment has replaced its store', async () => {
    const { guard, spend, acts, world } = createFixture();
    spend(3);
    await guard({});
    acts();
    world.storeArn = 'store-2';
    await guard({});
    expect(acts()).toEqual([
      ['flag', ONE_O_CLOCK],
      ['limit', true],
      ['record', ONE_O_CLOCK],
    ]);
    await guard({});
    expect(acts()).toEqual([['limit', true]]);
  });

  it('opens by itself when the period has ended', async () => {
    const { guard, spend, acts, world } = createFixture();
    spend(3);
    await guard({});
    acts();
    world.now = ONE_O_CLOCK * 1000;
    expect(await guard({})).toMatchObject({ closedUntil: null });
    // The flag at the edge has ended by itself.
    expect(acts()).toEqual([
      ['limit', false],
      ['record', undefined],
      ['mail', 'Reelay is open again'],
    ]);
    await guard({});
    expect(acts()).toEqual([['limit', false]]);
  });

  it('opens by hand, and counts from there on', async () => {
    const { guard, spend, acts, world } = createFixture();
    spend(3);
    await guard({});
    acts();
    expect(await guard({ open: true })).toMatchObject({ closedUntil: null });
    expect(acts()).toEqual([
      ['flag', undefined],
      ['limit', false],
      ['record', undefined],
      ['mail', 'Reelay is open again'],
    ]);
    world.now += 60_000;
    spend(1);
    expect(await guard({})).toMatchObject({ closedUntil: null });
    spend(1);
    expect(await guard({})).toMatchObject({ closedUntil: '2026-11-23T13:00:00.000Z' });
  });

  it.each(['flag', 'limit', 'record'])('repeats all of it in the next minute when "%s" has failed', async (failing) => {
    const { guard, spend, acts, world } = createFixture({ failing });
    spend(3);
    await expect(guard({})).rejects.toThrow(`${failing} failed`);
    acts();
    world.failing = '';
    await guard({});
    expect(acts().map((each) => (each as string[])[0])).toEqual(['flag', 'limit', 'record', 'mail']);
  });

  it('closes until the end of the month at its cap, by what it has written on earlier days', async () => {
    const { guard, spend, world } = createFixture({ caps: { hour: 99, day: 99, month: 15 } });
    spend(8);
    expect(await guard({})).toMatchObject({ closedUntil: null });
    world.now += 86_400_000;
    spend(6.5);
    expect(await guard({})).toMatchObject({ closedUntil: null });
    spend(0.5);
    expect(await guard({})).toMatchObject({ closedUntil: '2026-12-01T00:00:00.000Z' });
    expect(await guard({ open: true })).toMatchObject({ closedUntil: null });
    spend(1);
    expect(await guard({})).toMatchObject({ closedUntil: null });
  });

  it('reserves executions once, and tries again where that fails', async () => {
    const { guard, acts, world } = createFixture({ reserves: true, failing: 'reserve' });
    const eachMinute = [
      ['limit', false],
      ['reserve', false],
    ];
    await guard({});
    expect(acts()).toEqual(eachMinute);
    world.failing = '';
    await guard({});
    expect(acts()).toEqual(eachMinute);
    await guard({});
    expect(acts()).toEqual([['limit', false]]);
  });

  it('closes although the mail fails, and without an address for mails', async () => {
    const failing = createFixture({ failing: 'mail' });
    failing.spend(3);
    expect(await failing.guard({})).toMatchObject({ closedUntil: '2026-11-23T13:00:00.000Z' });
    const silent = createFixture({ email: false });
    silent.spend(3);
    expect(await silent.guard({})).toMatchObject({ closedUntil: '2026-11-23T13:00:00.000Z' });
  });
});
