import { describe, expect, it } from 'vitest';
import { PROFILE_NAMES, template } from '../deployments.ts';
import { expectNothing } from './checks.ts';
import { createModelFixture, FIRST_RELEASE } from './model-fixture.ts';
import { createWorld } from './world.ts';

const { check, cloudFormation, deployed, destroyEverywhere, expectWorking, failEverywhere, start } =
  createModelFixture();
/** A matrix of failures takes seconds of CPU, more on a busy machine. */
const TIMEOUT_MS = 240_000;
const HOSTS = { hobby: 'on demand', team: 'service', public: 'service' } as const;

describe.each(PROFILE_NAMES)('the first deployment of %s', { timeout: TIMEOUT_MS }, (profile) => {
  it('works, and leaves nothing when it fails at any step', async () => {
    const world = createWorld(FIRST_RELEASE);
    const failures = await failEverywhere(world, template(profile), async (copy) => expectNothing(copy));
    expect(failures).toBeGreaterThan(100);
    expect(await check(world)).toEqual({ tools: FIRST_RELEASE, streamHost: HOSTS[profile] });
  });

  it('is destroyed completely, also when the deletion fails at any step and is repeated', async () => {
    const world = await deployed(template(profile));
    await destroyEverywhere(world, expectNothing);
    expectNothing(world);
  });
});

const CHANGES = PROFILE_NAMES.flatMap((from) =>
  PROFILE_NAMES.filter((to) => to !== from).map((to) => [from, to] as const),
);

describe.each(CHANGES)('the change from %s to %s', { timeout: TIMEOUT_MS }, (from, to) => {
  it('works, and returns to a working stack when it fails at any step', async () => {
    const world = await deployed(template(from));
    await failEverywhere(world, template(to), async (copy) => {
      expect(await expectWorking(copy)).toEqual({ tools: FIRST_RELEASE, streamHost: HOSTS[from] });
    });
    expect(await check(world)).toEqual({ tools: FIRST_RELEASE, streamHost: HOSTS[to] });
  });

  it('works in another order of independent resources, with a new release, and back', async () => {
    const world = await deployed(template(from), true);
    world.newestRelease = '2026.11.20';
    await cloudFormation(world, true).deploy(template(to) as never);
    expect(await check(world)).toMatchObject({ streamHost: HOSTS[to] });
    if (to === 'hobby') await start(world);
    await cloudFormation(world, true).deploy(template(from) as never);
    expect(await check(world)).toMatchObject({ streamHost: HOSTS[from] });
    await cloudFormation(world, true).destroy();
    expectNothing(world);
  });
});

it('a deployment works while the cost guard keeps the resolver closed, and so does its rollback', {
  timeout: TIMEOUT_MS,
}, async () => {
  const world = await deployed(template('hobby'));
  world.isClosed = true;
  world.newestRelease = '2026.11.20';
  await failEverywhere(world, template('team'), async (copy) => {
    copy.isClosed = false;
    expect(await expectWorking(copy)).toMatchObject({ streamHost: HOSTS.hobby });
  });
  world.isClosed = false;
  expect(await check(world)).toMatchObject({ streamHost: HOSTS.team });
});
