import { describe, expect, it } from 'vitest';
import { PROFILE_NAMES, template } from '../deployments.ts';
import { mainTemplate } from '../synth.ts';
import { createModelFixture, FIRST_RELEASE } from './model-fixture.ts';
import { copyWorld, createWorld } from './world.ts';

const { check, cloudFormation, deployed, expectWorking, failEverywhere, installMissing, start, update } =
  createModelFixture();

/** A matrix of failures takes seconds of CPU, more on a busy machine. */
const TIMEOUT_MS = 240_000;

describe('a change of settings', { timeout: TIMEOUT_MS }, () => {
  it.each([
    ['team', 'rotated team'],
    ['hobby', 'rotated hobby'],
  ] as const)(
    'of origin secret, zones and architecture works for %s, back, and after a failure at any step',
    async (name, changed) => {
      const before = template(name);
      const world = await deployed(before);
      const formerly = await check(world);
      const after = await mainTemplate(changed);
      await failEverywhere(world, after, async (copy) => expect(await expectWorking(copy)).toEqual(formerly));
      expect(await check(world)).toEqual(formerly);
      if (formerly.streamHost === 'on demand') await start(world);
      await cloudFormation(world).deploy(before as never);
      expect(await check(world)).toEqual(formerly);
    },
  );

  it('provisions environments of the resolver, more, fewer and none, also across profiles and failures', async () => {
    const world = await deployed(await mainTemplate('public, 2 provisioned'));
    for (const next of ['public, 5 provisioned', 'team, 1 provisioned', 'hobby', 'public, 3 provisioned'] as const)
      await failEverywhere(world, await mainTemplate(next), expectWorking);
    expect(Object.values(world.functions).flatMap((found) => Object.values(found.provisioned))).toEqual([3]);
    await update(Object.assign(world, { newestRelease: '2026.11.12' }));
    expect((await check(world)).tools).toBe('2026.11.12');
  });

  it('keeps the access keys of a private instance across stream hosts, and after a failure at any step', async () => {
    const hobby = 'private hobby, to change';
    const world = await deployed(await mainTemplate(hobby));
    for (const next of ['private team, to change', hobby] as const)
      await failEverywhere(world, await mainTemplate(next), expectWorking);
    await check(world);
    await failEverywhere(world, template('hobby'), expectWorking);
    const [store] = Object.values(world.keyValueStores);
    expect(Object.keys(store ?? {}).filter((name) => name.startsWith('access-'))).toEqual([]);
  });

  it('moves to zones that overlap with the former ones', async () => {
    const world = await deployed(await mainTemplate('rotated team'));
    const after = await mainTemplate('team in other zones');
    await failEverywhere(world, after, expectWorking);
    expect(await check(world)).toMatchObject({ streamHost: 'service' });
  });
});

describe('the release of yt-dlp', { timeout: TIMEOUT_MS }, () => {
  const unpinned = template('hobby');
  const steps = ['pin', 'unpin', 'update', 'release'] as const;
  const orders = steps.flatMap((one) => steps.flatMap((two) => steps.map((three) => [one, two, three] as const)));

  it('is the pinned or the newest one in every order of pins, deployments, releases and updates', async () => {
    const pinned = await mainTemplate('hobby with a pinned release');
    const base = await deployed(unpinned);
    for (const order of orders) {
      const world = copyWorld(base);
      let isPinned = false;
      let expected = FIRST_RELEASE;
      for (const [index, step] of order.entries()) {
        if (step === 'release') {
          world.newestRelease = `2026.11.1${index}`;
          continue;
        }
        if (step === 'update') await update(world);
        else {
          isPinned = step === 'pin';
          await cloudFormation(world).deploy((isPinned ? pinned : unpinned) as never);
        }
        // A deployment whose template is the deployed one changes nothing.
        const isRun = step !== 'unpin' || order.slice(0, index).includes('pin');
        if (isRun) expected = isPinned ? FIRST_RELEASE : String(world.newestRelease);
      }
      expect([order, (await check(world)).tools]).toEqual([order, expected]);
    }
  });

  it.each(PROFILE_NAMES)('is installed by a later run when the first fetch of %s fails', async (profile) => {
    const world = createWorld(undefined);
    await cloudFormation(world).deploy(template(profile) as never);
    expect((await check(world)).tools).toBeUndefined();
    await expect(installMissing(world)).rejects.toThrow();
    expect((await check(world)).tools).toBeUndefined();
    world.newestRelease = FIRST_RELEASE;
    await installMissing(world);
    expect((await check(world)).tools).toBe(FIRST_RELEASE);
  });
});
