import { describe, expect, it } from 'vitest';
import type { Fault } from './account.ts';
import { resetFixture, type ToolsFixture, useToolsFixture } from './fixture.ts';

const [OLD, NEW] = ['2026.11.01', '2026.11.20'];
const fixture = useToolsFixture();

/** What happens at a call: a further kind of failure is a further entry. */
const FAILURES: Readonly<Record<string, Omit<Fault, 'name' | 'nth'>>> = {
  'throttled three times': { error: { status: 429, type: 'TooManyRequestsException' }, times: 3 },
  'a conflict, five times': { error: { status: 409, type: 'ResourceConflictException' }, times: 5 },
  denied: { error: { status: 403, type: 'AccessDeniedException' } },
  'a server error': { error: { status: 500, type: 'ServiceException' } },
  'a time-out after its effect': { error: { status: 504, type: 'TimeoutError' }, isLate: true },
  'killed before it': { error: 'killed' },
  'killed after it': { error: 'killed', isLate: true },
};

interface Run {
  /** To the state before. */
  readonly prepare: (of: ToolsFixture) => Promise<unknown>;
  readonly act: (of: ToolsFixture) => Promise<unknown>;
  /** The next scheduled run, when it is another. */
  readonly next?: (of: ToolsFixture) => Promise<unknown>;
  readonly before: string;
  readonly after: string;
}

const installed = async (of: ToolsFixture) => {
  of.newest = OLD;
  await of.deploy();
  of.newest = NEW;
};
const RUNS: Readonly<Record<string, Run>> = {
  'an update': { prepare: installed, act: (of) => of.update(), before: OLD, after: NEW },
  'a deployment': { prepare: installed, act: (of) => of.deploy(), before: OLD, after: NEW },
  'a rollback': {
    prepare: async (of) => {
      await installed(of);
      await of.update();
      of.linksResolveWith(OLD);
    },
    act: (of) => of.rollBack(),
    next: (of) => of.rollBack().then(of.update),
    before: NEW,
    after: OLD,
  },
};

/** Cells in which the tasks run ahead of the resolver until the next run: nobody knows that the pointer was written. */
const BETWEEN = /PutObject \d of .*, a time-out after its effect/;
/**
 * Cells that no later run completes before a newer release exists: the resolver has returned, and the pointer still names the release
 * that fails canary links.
 */
const HALF_RETURNED = /(PutObject 1 of a rollback, killed before|UpdateAlias 1 of a rollback, killed after) it/;

describe.each(Object.entries(RUNS))('%s that fails', (run, { prepare, act, next = act, before, after }) => {
  it.each(Object.entries(FAILURES))(
    'leaves all before or all after at each call, and the next one completes: %s',
    async (kind, failure) => {
      await prepare(fixture);
      fixture.account.begin();
      await act(fixture);
      const calls = [...fixture.account.calls];
      expect(calls.length).toBeGreaterThan(15);
      for (const [index, name] of calls.entries()) {
        const nth = calls.slice(0, index + 1).filter((each) => each === name).length;
        const cell = `${name} ${nth} of ${run}, ${kind}`;
        resetFixture(fixture);
        await prepare(fixture);
        fixture.account.begin({ ...failure, name, nth });
        await act(fixture).catch(() => undefined);
        const [resolver, tasks] = fixture.live();
        const isKilled = failure.error === 'killed';
        expect([before, after], cell).toContain(resolver);
        expect([before, after], cell).toContain(tasks);
        // Of a killed run nobody moves anything back: the instance says that it is being maintained.
        if (resolver !== tasks && !BETWEEN.test(cell))
          expect([isKilled, (await fixture.state.getMaintenance())?.activity], cell).toEqual([
            true,
            expect.any(String),
          ]);
        if (HALF_RETURNED.test(cell)) {
          expect([resolver, tasks], cell).toEqual([after, before]);
          continue;
        }
        const { fetched } = fixture;

        fixture.pass(601);
        fixture.account.begin();
        await next(fixture);
        await fixture.expectInPlace(after, cell);
        // What was published is used, not published again, and nothing is left of what was not.
        if (calls.slice(0, index).includes('PublishLayerVersion')) expect(fixture.fetched, cell).toBe(fetched);
        await fixture.update();
        expect([fixture.account.layers.length, Object.keys(fixture.account.objects).length], cell).toEqual(
          after === OLD ? [1, 2] : [2, 3],
        );
      }
    },
  );
});
