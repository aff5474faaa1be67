import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import type { GuardEvent, GuardRecord, WatchedMetric } from '../../../core/spending/index.ts';
import { createCostGuard } from '../../../lambdas/cost-guard/index.ts';

const metric = (name: string, isDoor: boolean, isMetered = false): WatchedMetric => ({
  namespace: 'n',
  name,
  dimensions: {},
  statistic: 'Sum',
  usd: 1,
  unseenMinutes: 0,
  isDoor,
  isMetered,
});
const NOON = Date.parse('2026-11-23T12:00:00Z');
const ONE_O_CLOCK = NOON / 1000 + 3600;
const NOTHING_SPENT = { values: { requests: [] as [number, number][], bytes: [] as [number, number][] } };
const MIDNIGHT = ONE_O_CLOCK + 11 * 3600;
const NEXT_DAY = { ...NOTHING_SPENT, now: MIDNIGHT * 1000 };

/** A guard with caps of $2 an hour and $10 a day, and one dollar for each unit of its metrics. */
function createFixture({
  email = true,
  failing = '',
  isMetered = false,
  caps = { hour: 2, day: 10, month: 100 },
} = {}) {
  const world = {
    values: { requests: [] as [number, number][], bytes: [] as [number, number][] },
    record: {} as GuardRecord,
    now: NOON,
    sentBytes: 0,
    failing,
    failsLate: false,
    afterRead: undefined as (() => Promise<unknown>) | undefined,
    storeArn: 'store-1',
    /** Epoch seconds, as the edge reads it. */
    flag: 0,
    isLimited: false,
    isOn: true,
  };
  let revisions = 0;
  const done: unknown[] = [];
  const logged: string[] = [];
  const counts: Record<string, number> = {};
  /** Fails each call of the name, or with a number that call, and after its effect where it is late. */
  const act = (name: string, argument: unknown, effect?: () => void) => {
    done.push([name, argument]);
    counts[name] = (counts[name] ?? 0) + 1;
    const isFailing = [name, `${name} ${counts[name]}`].includes(world.failing);
    if (!isFailing || world.failsLate) effect?.();
    if (isFailing) throw new Error(`${name} failed`);
  };
  const guard = createCostGuard({
    watched: [metric('requests', true), metric('bytes', false, isMetered)],
    caps,
    closesAt: 9,
    readMetric: async (each) => {
      done.push(['read', each.name]);
      return { metric: each, minutes: world.values[each.name as 'bytes'] };
    },
    state: {
      countStreamBytes: async () => world.sentBytes,
      getCostGuard: async () => {
        const { record } = world;
        await world.afterRead?.();
        return record;
      },
      putCostGuard: async (record) => {
        if (record.revision !== world.record.revision) return undefined;
        const revision = String(++revisions);
        const write = () => {
          world.record = { ...record, revision };
        };
        // What has been spent so far is no news.
        const { closedUntil, flaggedIn, isOff = false } = world.record;
        const isNews =
          record.closedUntil !== closedUntil || record.flaggedIn !== flaggedIn || (record.isOff ?? false) !== isOff;
        if (isNews) act('record', [record.closedUntil, record.flaggedIn], write);
        else write();
        return revision;
      },
    },
    flag: {
      get storeArn() {
        return world.storeArn;
      },
      write: async (until) => {
        act('flag', until === undefined ? undefined : Number(until), () => {
          world.flag = Number(until ?? 0);
        });
        return 'a version';
      },
    },
    switchEdge: async (isOn) => {
      const isChanged = world.isOn !== isOn;
      act('switch', isOn, () => {
        world.isOn = isOn;
      });
      return isChanged;
    },
    limits: [
      async (isClosed) =>
        act('limit', isClosed, () => {
          world.isLimited = isClosed;
        }),
    ],
    notify: email ? async (subject) => act('mail', subject) : undefined,
    log: { ...silentLog, error: (message: string) => void logged.push(message) },
    now: () => world.now,
  });
  const spend = (usd: number) => {
    world.values.requests.push([world.now / 1000, 0.01]);
    world.values.bytes.push([world.now / 1000, usd]);
  };
  const acts = () => done.splice(0).filter((each) => (each as string[])[0] !== 'read');
  return { world, done, guard, spend, acts, logged, counts };
}

const [ADMIT, LIMIT] = [
  ['limit', false],
  ['limit', true],
] as const;
const BRAKE = { alarmArn: 'arn:aws:cloudwatch:us-east-1:111111111111:alarm:CostGuardFailed' };
const switched = (isOn: boolean) => ['switch', isOn] as const;
const record = (until?: number, storeArn?: string) => ['record', [until, storeArn]] as const;
const closed = (until: number) => [record(until), ['flag', until], LIMIT, record(until, 'store-1')] as const;
const CLOSED = ['mail', 'Reelay is closed: its spending limit is reached'] as const;
const OPEN = ['mail', 'Reelay is open again'] as const;
const OPENED = '2026-11-23T13:00:00.000Z';

/** One run: what is spent or changed before it, what it answers, and what it does. */
interface Minute {
  readonly usd?: number;
  /** Seconds since the run before. */
  readonly later?: number;
  readonly change?: Partial<ReturnType<typeof createFixture>['world']>;
  readonly event?: GuardEvent;
  readonly until?: string | null;
  readonly does?: readonly (readonly unknown[])[];
  readonly logged?: string[];
}
type Scenario = [what: string, minutes: readonly Minute[], caps?: { hour: number; day: number; month: number }];

const SCENARIOS: Scenario[] = [
  [
    'closes the edge and the resolver over a cap, remembers it, and says so once',
    [{ usd: 1, does: [ADMIT] }, { usd: 1, until: OPENED, does: [...closed(ONE_O_CLOCK), CLOSED] }, { does: [LIMIT] }],
  ],
  [
    'closes the edge again when a deployment has replaced its store',
    [
      { usd: 3 },
      { change: { storeArn: 'store-2' }, does: [['flag', ONE_O_CLOCK], LIMIT, record(ONE_O_CLOCK, 'store-2')] },
      { does: [LIMIT] },
    ],
  ],
  [
    'opens by itself when the period, and with it the flag at the edge, has ended',
    [{ usd: 3 }, { later: 3600, until: null, does: [ADMIT, record(), OPEN] }, { does: [ADMIT] }],
  ],
  [
    'opens by hand, and counts from there on',
    [
      { usd: 3 },
      {
        event: { open: true },
        until: null,
        does: [record(ONE_O_CLOCK), switched(true), ['flag', undefined], ADMIT, record(), OPEN],
      },
      { later: 60, usd: 1, until: null },
      { usd: 1, until: OPENED },
    ],
  ],
  [
    'closes until the end of the month at its cap, by what it has written on earlier days',
    [
      { usd: 8, until: null },
      { later: 86_400, usd: 6.5, until: null },
      { usd: 0.5, until: '2026-12-01T00:00:00.000Z' },
      { event: { open: true }, until: null },
      { usd: 1, until: null },
    ],
    { hour: 99, day: 99, month: 15 },
  ],
  [
    'disables the distribution once what the closed edge refuses has a price, until it opens',
    [
      { usd: 10, does: [...closed(MIDNIGHT), CLOSED] },
      {
        usd: 5,
        change: { failing: 'switch' },
        does: [record(MIDNIGHT, 'store-1'), LIMIT, switched(false)],
        logged: ['Failed to switch the distribution'],
      },
      {
        change: { failing: '' },
        does: [LIMIT, switched(false), ['mail', 'Reelay is off: requests that it refused have a price']],
      },
      { does: [LIMIT, switched(false)] },
      { later: 86_400, change: { values: { requests: [], bytes: [] } }, does: [ADMIT, switched(true), record(), OPEN] },
    ],
  ],
  [
    'enables it when it is opened by hand',
    [
      { usd: 15 },
      {
        event: { open: true },
        until: null,
        does: [record(MIDNIGHT), switched(true), ['flag', undefined], ADMIT, record(), OPEN],
      },
      { does: [ADMIT] },
    ],
  ],
  [
    'closes and disables the edge at the alarm on its requests, whatever is measured, until the day ends',
    [
      {
        event: BRAKE,
        until: '2026-11-24T00:00:00.000Z',
        does: [
          ...[switched(false), LIMIT, record(MIDNIGHT), ['mail', 'Reelay is off: its spending limit was not kept']],
          ...[['flag', MIDNIGHT], LIMIT, switched(false), record(MIDNIGHT, 'store-1'), CLOSED],
        ],
      },
      { does: [LIMIT, switched(false)] },
      { later: 86_400, until: null, does: [ADMIT, switched(true), record(), OPEN] },
    ],
  ],
];

describe('the cost guard', () => {
  it.each(SCENARIOS)('%s', async (_, minutes, caps) => {
    const { guard, spend, acts, world, logged } = createFixture({ caps });
    for (const [index, { usd, later = 0, change, event = {}, until, does, ...said }] of minutes.entries()) {
      world.now += later * 1000;
      Object.assign(world, change);
      if (usd) spend(usd);
      const answer = await guard(event);
      if (until !== undefined) expect(answer, `run ${index}`).toMatchObject({ closedUntil: until });
      const done = acts();
      if (does) expect(done, `run ${index}`).toEqual(does);
      if (said.logged) expect(logged).toEqual(said.logged);
    }
  });

  it('disables the edge at that alarm although the table fails, and can be opened by hand', async () => {
    const { guard, acts, world } = createFixture({ failing: 'record' });
    await expect(guard(BRAKE)).rejects.toThrow('record failed');
    expect(acts()).toEqual([switched(false), LIMIT, record(MIDNIGHT)]);
    world.failing = '';
    expect(await guard({ open: true })).toMatchObject({ closedUntil: null });
    expect([world.isOn, world.isLimited]).toEqual([true, false]);
  });

  it('closes what it can at that alarm, and throws what failed', async () => {
    const { guard, world } = createFixture({ failing: 'limit' });
    await expect(guard(BRAKE)).rejects.toThrow('limit failed');
    expect([world.isOn, world.record.isOff]).toEqual([false, true]);
  });

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
    expect(await guard({})).toMatchObject({ closedUntil: OPENED });
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

  it('stays open by hand where a run has read before that it is closed', async () => {
    const { guard, spend, world } = createFixture({ isMetered: true });
    spend(3);
    await guard({});
    world.afterRead = () => {
      world.afterRead = undefined;
      return guard({ open: true });
    };
    await expect(guard({})).rejects.toThrow('Another run has written');
    world.now += 60_000;
    expect(await guard({})).toMatchObject({ closedUntil: null });
    expect([world.flag, world.isLimited]).toEqual([0, false]);
  });

  it('says that it is closed once it is, by whichever run', async () => {
    for (const failing of ['flag', 'limit', 'record']) {
      const { guard, spend, acts, world } = createFixture({ failing });
      spend(3);
      await expect(guard({})).rejects.toThrow(`${failing} failed`);
      // What can be closed is closed, for two minutes where it cannot be recorded.
      expect(acts()).toContainEqual(['flag', failing === 'record' ? NOON / 1000 + 120 : ONE_O_CLOCK]);
      expect(world.isLimited).toBe(failing !== 'limit');
      world.failing = '';
      await guard({});
      const all = ['record', 'flag', 'limit', 'record', 'mail'];
      // The limits are set by every run.
      const expected = { record: all, flag: all.slice(1), limit: ['limit'] }[failing];
      expect(acts().map((each) => (each as string[])[0])).toEqual(expected);
    }
  });

  describe('whichever call fails, the runs of the next minutes make edge, limits and record agree', () => {
    type Fixture = ReturnType<typeof createFixture>;
    const close = async ({ guard, spend }: Fixture, usd: number) => {
      spend(usd);
      await guard({});
    };
    it.each<{ run: string; prepare: (fixture: Fixture) => unknown; event: GuardEvent }>([
      { run: 'closes', prepare: ({ spend }) => spend(3), event: {} },
      {
        run: 'disables the distribution',
        prepare: (fixture) => close(fixture, 3).then(() => fixture.spend(12)),
        event: {},
      },
      {
        run: 'opens at the end of the period',
        prepare: (fixture) => close(fixture, 15).then(() => Object.assign(fixture.world, NEXT_DAY)),
        event: {},
      },
      { run: 'opens by hand', prepare: (fixture) => close(fixture, 15), event: { open: true } },
    ])('of a run that $run', async ({ prepare, event }) => {
      const start = async () => {
        const fixture = createFixture();
        await prepare(fixture);
        for (const name of Object.keys(fixture.counts)) fixture.counts[name] = 0;
        return fixture;
      };
      const { guard, counts } = await start();
      await guard(event);
      const calls = Object.entries(counts).flatMap(([name, count]) =>
        Array.from({ length: count }, (_, index) => `${name} ${index + 1}`),
      );
      expect(calls.length).toBeGreaterThan(3);
      for (const failing of calls)
        for (const failsLate of [false, true])
          for (const goesOn of [false, true]) {
            const { world, guard } = await start();
            Object.assign(world, { failing, failsLate });
            await guard(event).catch(() => undefined);
            Object.assign(world, { failing: '', ...(!goesOn && NOTHING_SPENT) });
            for (let minute = 0; minute < 3; minute++) {
              world.now += 60_000;
              await guard({});
            }
            const { record, flag, isLimited, isOn, now } = world;
            const isClosed = (record.closedUntil ?? 0) > now / 1000;
            const step = { failing, failsLate, goesOn };
            expect({ step, isFlagged: flag > now / 1000, isLimited, isOn }).toEqual({
              step,
              isFlagged: isClosed,
              isLimited: isClosed,
              isOn: record.isOff !== true,
            });
            expect(isOn || isClosed).toBe(true);
          }
    });
  });

  it('closes although the mail fails, and without an address for mails', async () => {
    const failing = createFixture({ failing: 'mail' });
    failing.spend(3);
    expect(await failing.guard({})).toMatchObject({ closedUntil: OPENED });
    const silent = createFixture({ email: false });
    silent.spend(3);
    expect(await silent.guard({})).toMatchObject({ closedUntil: OPENED });
  });
});
