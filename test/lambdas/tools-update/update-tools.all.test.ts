import { beforeEach, describe, expect, it } from 'vitest';
import { installMissingTools, removeTools, updateTools } from '../../../lambdas/tools-update/update-tools.ts';
import { CLOSED, OTHER_LAYERS } from './account.ts';
import { ASSET, useToolsFixture } from './fixture.ts';

const [OLD, NEW, NEWER] = ['2026.11.01', '2026.11.20', '2026.11.21'];
const LINKS = ['https://site.example/watch'];
const fixture = useToolsFixture();
const { signal } = new AbortController();
const installMissing = () => installMissingTools(fixture.parts(), signal);
/** One run that finds this release. */
const updateTo = (version: string) => {
  fixture.newest = version;
  return fixture.update();
};
const deployWith = (version: string | undefined) => {
  fixture.newest = version;
  return fixture.deploy();
};
const publishedVersions = () => fixture.account.layers.length;

describe('an update', () => {
  it('makes a version of the resolver with the newest release live, keeps its other layers, and is in maintenance only while alias and pointer move', async () => {
    expect(await updateTo(OLD)).toEqual({ outcome: 'updated', version: OLD });
    await fixture.expectInPlace(OLD);
    expect([fixture.figures, fixture.steps.includes('maintained')]).toEqual([['age'], false]);
    expect(Object.keys(fixture.account.objects)).toEqual([`releases/${OLD}/${ASSET}`, 'current.json']);
    expect(fixture.pointer()).toMatchObject({
      key: `releases/${OLD}/${ASSET}`,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes: `${OLD} ${ASSET}`.length,
      publishedAt: expect.any(Number),
    });
    fixture.steps.length = 0;
    await updateTo(NEW);
    const { steps } = fixture;
    expect(steps.indexOf('checked')).toBeLessThan(steps.indexOf('maintained'));
    const held = steps.slice(steps.indexOf('maintained'), steps.indexOf('cleared'));
    expect(held).toEqual(['maintained', 'attached', 'pointed']);
    expect(fixture.figures).toEqual(['age', 'maintained', 'age']);
  });

  it('publishes nothing and invokes no canary when nothing is new', async () => {
    await updateTo(OLD);
    fixture.steps.length = 0;
    expect(await fixture.update()).toEqual({ outcome: 'current', version: OLD });
    expect(fixture.steps).toEqual(['leased', 'looked', 'pruned']);
  });

  it('attaches a layer again that has been detached, and one that is attached concurrently stays', async () => {
    await updateTo(OLD);
    const { resolver } = fixture.parts();
    await resolver.switchTo(await resolver.publish(() => [...OTHER_LAYERS], signal));
    expect(await fixture.update()).toMatchObject({ outcome: 'updated' });
    await fixture.expectInPlace(OLD);
    fixture.account.beforeChange = () => {
      fixture.account.beforeChange = undefined;
      const found = fixture.account.functions.resolver;
      Object.assign(found, { layers: [...found.layers, 'arn:theirs:1'], revision: found.revision + 1 });
    };
    await updateTo(NEW);
    expect(fixture.account.functions.resolver.versions.at(-1)).toContain('arn:theirs:1');
    expect(fixture.live()).toEqual([NEW, NEW]);
  });

  it('runs once when invoked concurrently, and not after its signal was aborted', async () => {
    fixture.newest = OLD;
    await expect(updateTools(fixture.parts(), AbortSignal.abort(new Error('no time left')))).rejects.toThrow();
    expect(fixture.live()).toEqual([undefined, undefined]);
    const outcomes = await Promise.all([fixture.update(), fixture.update()]);
    expect(outcomes).toContainEqual({ outcome: 'busy' });
    expect(outcomes).toContainEqual({ outcome: 'updated', version: OLD });
    await fixture.expectInPlace(OLD);
  });

  it('has the canary links resolved only where another release would be replaced', async () => {
    fixture.linksResolveWith(OLD, NEW, NEWER);
    await deployWith(undefined);
    await updateTo(OLD);
    await fixture.deploy();
    expect(fixture.account.links).toEqual([[], []]);
    await updateTo(NEW);
    expect(fixture.account.links.at(-1)).toEqual(LINKS);
  });

  const refused = (reason: string) => ({ payload: JSON.stringify({ ok: false, reason }) });
  /** What is wrong, how the run ends, and whether the candidate is removed. */
  it.each<[what: string, trouble: () => unknown, reason: RegExp, isRemoved?: boolean]>([
    [
      'releases that cannot be found',
      () => Object.assign(fixture, { newest: undefined }),
      /Failed to find the newest release/,
    ],
    [
      'a release that cannot be verified',
      () => Object.assign(fixture, { untrusted: 'It is not signed' }),
      /^It is not signed$/,
    ],
    [
      'an older release under a new name',
      () =>
        Object.assign(fixture.account.verdicts, { canary: { payload: JSON.stringify({ ok: true, version: OLD }) } }),
      /reports version 2026\.11\.01/,
      true,
    ],
    [
      'a canary that rejects it',
      () => Object.assign(fixture.account.verdicts, { canary: refused('it reports a 404 as bug') }),
      /^yt-dlp 2026\.11\.20 does not work: it reports a 404 as bug$/,
      true,
    ],
    [
      'one that cannot be removed either',
      () => {
        fixture.account.verdicts.canary = refused('it crashes');
        fixture.account.begin({ name: 'DeleteLayerVersion', nth: 1, error: { status: 403, type: 'Denied' } });
      },
      /^yt-dlp 2026\.11\.20 does not work: it crashes$/,
    ],
    [
      'a canary that crashes',
      () =>
        Object.assign(fixture.account.verdicts, {
          canary: { payload: '{"errorType":"Runtime.ExitError"}', dies: true },
        }),
      /Canary failed: .*Runtime\.ExitError/,
    ],
    ...['', 'not JSON', 'null', '{"ok":true}', '{"ok":"yes","version":"2026.11.20"}'].map(
      (payload) =>
        [
          `the answer ${payload} of the canary`,
          () => Object.assign(fixture.account.verdicts, { canary: { payload } }),
          /Invalid response of the canary/,
        ] as [string, () => unknown, RegExp],
    ),
    [
      'a layer that the canary does not take',
      () => Object.assign(fixture.account.changes, { canary: { status: 'Failed', looks: 1 } }),
      /canary did not take its new layers/,
    ],
    [
      'layers that the resolver does not take',
      () => Object.assign(fixture.account.changes, { resolver: { status: 'Failed', looks: 2 } }),
      /did not take its new layers: The layer cannot be mounted/,
    ],
    [
      'a resolver that does not work with it',
      () => Object.assign(fixture.account.verdicts, { resolver: refused('the worker does not start') }),
      /The resolver does not work with yt-dlp 2026\.11\.20: the worker does not start/,
    ],
    ['canary links that do not resolve', () => fixture.linksResolveWith(OLD), /a canary link does not resolve/],
    [
      'no execution free in the account',
      () => Object.assign(fixture.account, { throttledBy: 'ConcurrentInvocationLimitExceeded' }),
      /Rate exceeded/,
    ],
    [
      'another archive than the verified one',
      () => Object.assign(fixture.account, { publishedDigest: Buffer.alloc(32).toString('base64') }),
      /another archive than the verified one/,
      true,
    ],
  ])(
    'keeps the former release and records a failure, and the next run completes: %s',
    async (_, trouble, reason, isRemoved) => {
      await updateTo(OLD);
      fixture.newest = NEW;
      fixture.figures.length = 0;
      await trouble();
      await expect(fixture.update()).rejects.toThrow(reason);
      await fixture.expectInPlace(OLD);
      expect(fixture.figures.at(-1)).toBe('failed');
      if (isRemoved) expect(publishedVersions()).toBe(1);
      const { account, environment } = fixture;
      Object.assign(account, {
        changes: {},
        throttledBy: undefined,
        publishedDigest: undefined,
        failsLinks: undefined,
      });
      for (const name of ['canary', 'resolver']) delete account.verdicts[name];
      delete environment.CANARY_LINKS;
      Object.assign(fixture, { newest: NEW, untrusted: undefined });
      account.begin();
      const isArchived = Object.keys(account.objects).some((key) => key.includes(NEW));
      const before = [fixture.fetched + (isArchived ? 0 : 1), publishedVersions()];
      expect(await fixture.update()).toEqual({ outcome: 'updated', version: NEW });
      await fixture.expectInPlace(NEW);
      // What a run has published is used by the next one.
      if (before[1] === 2) expect([fixture.fetched, publishedVersions()]).toEqual(before);
    },
  );

  it('reports both failures when the alias cannot be moved back either', async () => {
    await updateTo(OLD);
    const parts = fixture.parts();
    const movePointer = () => {
      fixture.account.begin({ name: 'UpdateAlias', nth: 1, error: { status: 403, type: 'AccessDeniedException' } });
      return Promise.reject(new Error('Access Denied'));
    };
    fixture.newest = NEW;
    await expect(updateTools({ ...parts, archive: { ...parts.archive, movePointer } }, signal)).rejects.toThrow(
      /Access Denied.*former version was not restored/,
    );
    fixture.account.begin();
    await fixture.update();
    await fixture.expectInPlace(NEW);
  });

  it('ends when its time does although the canary takes no layers', async () => {
    fixture.account.changes.canary = { status: 'Successful', looks: Infinity };
    await expect(fixture.parts().canary('arn:tools:1', AbortSignal.timeout(100))).rejects.toThrow(/abort/i);
  });

  it('goes on untried while the cost guard keeps the resolver closed, and so do deployment and rollback', async () => {
    await updateTo(OLD);
    fixture.account.throttledBy = CLOSED;
    for (const version of [NEW, NEW, NEWER]) {
      await deployWith(version);
      await fixture.expectInPlace(version);
    }
    expect(await updateTo('2026.11.25')).toEqual({ outcome: 'updated', version: '2026.11.25' });
    await fixture.expectInPlace('2026.11.25');
  });
});

describe('installMissingTools', () => {
  it('installs a release after a failed first fetch, and records that none was installed', async () => {
    await deployWith(undefined);
    await fixture.expectInPlace(undefined);
    await expect(installMissing()).rejects.toThrow();
    expect(fixture.figures).toEqual(['failed', 'missing', 'failed']);
    fixture.newest = NEW;
    expect(await installMissing()).toEqual({ outcome: 'updated', version: NEW });
    await fixture.expectInPlace(NEW);
    for (const each of [fixture.steps, fixture.figures]) each.length = 0;
    fixture.newest = NEWER;
    expect(await installMissing()).toEqual({ outcome: 'current', version: NEW });
    // No lease is taken, and no release looked for, while one is in use.
    expect([fixture.steps, fixture.figures]).toEqual([[], []]);
  });
});

describe('rollBack', () => {
  beforeEach(async () => {
    await updateTo(OLD);
    await updateTo(NEW);
  });

  it.each<[what: string, prepare: () => unknown]>([
    ['there are no canary links, whatever clients ask for', () => undefined],
    ['the canary links resolve with it', () => fixture.linksResolveWith(NEW)],
    [
      'it is pinned',
      () => {
        fixture.linksResolveWith(OLD);
        fixture.environment.TOOLS_VERSION = NEW;
      },
    ],
    [
      'it was switched to more than an hour ago',
      () => {
        fixture.linksResolveWith(OLD);
        fixture.pass(3_601);
      },
    ],
  ])('keeps a release where %s', async (_, prepare) => {
    prepare();
    expect(await fixture.rollBack()).toEqual({ outcome: 'kept', version: NEW });
    await fixture.expectInPlace(NEW);
    expect(fixture.pointer()?.refused).toBeUndefined();
  });

  it('returns once to the release before, and excludes one that fails canary links until it is pinned or a newer one exists', async () => {
    fixture.linksResolveWith(OLD, NEWER);
    expect(await fixture.rollBack()).toEqual({ outcome: 'rolled back', version: OLD });
    expect(fixture.pointer()?.refused).toEqual([NEW]);
    await fixture.expectInPlace(OLD);
    expect(await fixture.update()).toEqual({ outcome: 'current', version: OLD });
    fixture.linksResolveWith(NEW, NEWER);
    expect(await fixture.rollBack()).toEqual({ outcome: 'kept', version: OLD });
    fixture.environment.TOOLS_VERSION = NEW;
    expect(await fixture.update()).toEqual({ outcome: 'updated', version: NEW });
    await fixture.expectInPlace(NEW);
    fixture.environment.TOOLS_VERSION = '';
    expect(await updateTo(NEWER)).toEqual({ outcome: 'updated', version: NEWER });
    await fixture.expectInPlace(NEWER);
  });
});

describe('a pinned release', () => {
  it('is fetched when its archive is gone, without looking for the newest, and newer ones are ignored', async () => {
    await updateTo(NEW);
    fixture.environment.TOOLS_VERSION = OLD;
    expect(await updateTo(undefined as never)).toEqual({ outcome: 'updated', version: OLD });
    await fixture.expectInPlace(OLD);
    expect(await updateTo(NEWER)).toEqual({ outcome: 'current', version: OLD });
    fixture.environment.TOOLS_VERSION = '2026.08.19';
    fixture.untrusted = 'upstream returned 404';
    await expect(fixture.update()).rejects.toThrow(/404/);
    await fixture.expectInPlace(OLD);
    expect(fixture.figures.at(-1)).toBe('failed');
  });

  const steps = ['pin', 'unpin', 'update', 'release'] as const;
  const orders = steps.flatMap((one) => steps.flatMap((two) => steps.map((three) => [one, two, three] as const)));

  it.each(orders)('or the newest one is in place after %s, %s and %s', async (...order) => {
    await deployWith(OLD);
    let [isPinned, expected] = [false, OLD];
    for (const [index, step] of order.entries()) {
      if (step === 'release') fixture.newest = `2026.11.1${index}`;
      else {
        if (step !== 'update') isPinned = step === 'pin';
        fixture.environment.TOOLS_VERSION = isPinned ? OLD : '';
        await (step === 'update' ? fixture.update() : fixture.deploy());
        expected = isPinned ? OLD : String(fixture.newest);
      }
      await fixture.expectInPlace(expected);
    }
  });
});

describe('provideTools and removeTools', () => {
  it('provides the newest release without maintenance in the first deployment', async () => {
    await deployWith(NEW);
    await fixture.expectInPlace(NEW);
    expect(fixture.steps).not.toContain('maintained');
  });

  it('provides none where the only release does not work, and what there is while releases are unavailable', async () => {
    fixture.account.verdicts.canary = { payload: JSON.stringify({ ok: true, version: '2020.01.01' }) };
    await deployWith(NEW);
    await fixture.expectInPlace(undefined);
    expect([publishedVersions(), fixture.figures]).toEqual([0, ['failed']]);
    delete fixture.account.verdicts.canary;
    await updateTo(NEW);
    for (const version of [undefined, OLD]) {
      await deployWith(version);
      await fixture.expectInPlace(NEW);
    }
  });

  it('provides what a killed update had published when releases are unavailable', async () => {
    await deployWith(OLD);
    fixture.account.begin({ name: 'UpdateAlias', nth: 1, error: 'killed' });
    await expect(updateTo(NEW)).rejects.toThrow('killed');
    fixture.account.begin();
    fixture.pass(601);
    await deployWith(undefined);
    await fixture.expectInPlace(NEW);
  });

  it.each([
    [
      'does not work',
      () => Object.assign(fixture.account.verdicts, { canary: { payload: '{"ok":false,"reason":"no"}' } }),
    ],
    ['fails the canary links', () => fixture.linksResolveWith(OLD)],
  ])('provides the former release, also where a deployment had detached it, when the newest %s', async (_, spoil) => {
    await deployWith(OLD);
    const { resolver } = fixture.parts();
    if (_ === 'does not work') await resolver.switchTo(await resolver.publish(() => [...OTHER_LAYERS], signal));
    spoil();
    await deployWith(NEW);
    await fixture.expectInPlace(OLD);
    expect(fixture.figures.slice(-2)).toEqual(['age', 'failed']);
  });

  it('provides the one in use while an update is under way', async () => {
    await deployWith(OLD);
    await fixture.state.takeToolsUpdate({ owner: 'another', expiresAt: Math.floor(Date.now() / 1000) + 60 });
    await deployWith(NEW);
    await fixture.expectInPlace(OLD);
    await fixture.state.endToolsUpdate('another');
    await fixture.deploy();
    await fixture.expectInPlace(NEW);
  });

  it('fails instead of downgrading when the release in use is unknown', async () => {
    await deployWith(NEW);
    fixture.account.begin({ name: 'GetObject', nth: 1, error: { status: 403, type: 'AccessDenied' } });
    await expect(fixture.deploy()).rejects.toThrow('AccessDenied');
    expect(fixture.live()).toEqual([NEW, NEW]);
  });

  it('provisions what the last deployment wants, which updates keep, and fails when Lambda refuses it', async () => {
    const { resolver } = fixture.account.functions;
    for (const wanted of [0, 4, 2, 0, 3]) {
      fixture.environment.RESOLVER_PROVISIONED = String(wanted);
      await deployWith(OLD);
      expect(resolver.provisioned).toBe(wanted || undefined);
    }
    await updateTo(NEW);
    expect(resolver.provisioned).toBe(3);
    fixture.account.begin({
      name: 'PutProvisionedConcurrencyConfig',
      nth: 1,
      error: { status: 400, type: 'InvalidParameterValueException' },
    });
    await expect(fixture.deploy()).rejects.toThrow('InvalidParameterValueException');
    await fixture.expectInPlace(NEW);
  });

  it('deletes every version with the stack, idempotently', async () => {
    await deployWith(OLD);
    await deployWith(NEW);
    expect(publishedVersions()).toBe(2);
    for (const _ of ['once', 'again']) {
      await removeTools(fixture.parts(), signal);
      expect(publishedVersions()).toBe(0);
    }
  });

  it('deletes what an update in progress publishes too: once it has ended, or will not end', async () => {
    const lease = { owner: 'another', expiresAt: Math.floor(Date.now() / 1000) + 60 };
    await deployWith(OLD);
    await fixture.state.takeToolsUpdate(lease);
    const asked: unknown[] = [];
    const takeToolsUpdate = async (wanted: typeof lease) => {
      asked.push(publishedVersions());
      if (asked.length === 3) await fixture.state.endToolsUpdate('another');
      return fixture.state.takeToolsUpdate(wanted);
    };
    const parts = { ...fixture.parts(), pollIntervalSeconds: 0 };
    await removeTools({ ...parts, state: { ...parts.state, takeToolsUpdate } }, signal);
    expect([asked, publishedVersions()]).toEqual([[1, 1, 1], 0]);
    await deployWith(OLD);
    await fixture.state.takeToolsUpdate(lease);
    await removeTools(fixture.parts(), signal, 0);
    expect(publishedVersions()).toBe(0);
  });
});
