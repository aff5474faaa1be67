import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startReleasePages } from '../../layers/tools/release-pages.ts';
import { temporaryFolder } from '../../layers/tools/temporary.ts';
import { zip } from '../../layers/tools/zip.ts';
import { startMoto } from '../../support/moto.ts';
import { ASSET, createWorld, type World } from './fakes.ts';

/** Against moto, whose layers, functions, objects and items are real enough for all that goes well. */
const moto = await startMoto();
const pages = await startReleasePages();
const root = await temporaryFolder();
afterAll(async () => {
  pages.close();
  await moto.close();
});

let world: World;
beforeEach(async () => {
  pages.files.clear();
  pages.latest = undefined;
  await moto.reset();
  world = await createWorld({ endpoint: moto.endpoint, pages });
});

const archiveOf = (version: string) =>
  zip(root, [
    ['yt-dlp_linux', version],
    ['_internal/base.txt', 'base'],
  ]);
const works = (version: string) => moto.answerInvocations(JSON.stringify({ ok: true, version }));
const release = async (version: string) => {
  await pages.publish(version, ASSET, await archiveOf(version));
  await works(version);
};
const inPlace = async () => {
  const [one, two] = world.others;
  const pointer = await world.pointer();
  expect(await world.attached()).toEqual([one, pointer?.layerVersionArn, two]);
  expect((await world.state.getTools())?.ytDlp).toBe(pointer?.version);
  expect(await world.state.getMaintenance()).toBeUndefined();
  return pointer?.version;
};

describe('installMissingTools', () => {
  it('installs a release after a first fetch that failed, and counts that there was none', async () => {
    await expect(world.installMissing()).rejects.toThrow();
    expect(world.figures).toEqual(['missing', 'failed']);
    await release('2026.11.20');
    expect(await world.installMissing()).toEqual({ outcome: 'updated', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
  });

  it('takes no lease and does not look for releases while one is in use', async () => {
    await release('2026.11.20');
    await world.update();
    await release('2026.11.21');
    world.steps.length = 0;
    world.figures.length = 0;
    expect(await world.installMissing()).toEqual({ outcome: 'current', version: '2026.11.20' });
    expect([world.steps, world.figures]).toEqual([[], []]);
  });
});

describe('an update', () => {
  it('puts the newest release where the placeholder was, and leaves other layers where they were', async () => {
    await release('2026.11.20');
    expect(await world.update()).toEqual({ outcome: 'updated', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
    expect(await world.archives()).toEqual([`releases/2026.11.20/${ASSET}`]);
    expect(await world.pointer()).toMatchObject({
      key: `releases/2026.11.20/${ASSET}`,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes: (await archiveOf('2026.11.20')).length,
      publishedAt: expect.any(Number),
    });
    expect(world.figures).toEqual(['maintained', 'age', 'updated']);
  });

  it('takes no maintenance, publishes nothing and asks no canary when nothing is new', async () => {
    await release('2026.11.20');
    await world.update();
    world.steps.length = 0;
    expect(await world.update()).toEqual({ outcome: 'current', version: '2026.11.20' });
    expect(world.steps).toEqual(['leased', 'looked', 'pruned']);
  });

  it('does not go back to an older release', async () => {
    await release('2026.11.20');
    await world.update();
    await release('2026.08.19');
    expect(await world.update()).toEqual({ outcome: 'current', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
  });

  it('keeps three versions, of layers and of archives', async () => {
    for (const version of ['2026.11.01', '2026.11.02', '2026.11.03', '2026.11.04']) {
      await release(version);
      await world.update();
    }
    expect(await inPlace()).toBe('2026.11.04');
    const versions = await world.assemble().dependencies.layers.versions();
    expect(versions.map(({ description }) => description.split(' ')[1])).toEqual([
      '2026.11.04',
      '2026.11.03',
      '2026.11.02',
    ]);
    expect(await world.archives()).toEqual(['02', '03', '04'].map((day) => `releases/2026.11.${day}/${ASSET}`));
  });

  it('says maintenance only while it attaches', async () => {
    await release('2026.11.20');
    await world.update();
    const held = world.steps.slice(world.steps.indexOf('maintained'), world.steps.indexOf('cleared'));
    expect(held).toEqual(['maintained', 'attached', 'pointed']);
  });

  it('attaches again what somebody has taken off', async () => {
    await release('2026.11.20');
    await world.update();
    const resolver = world.assemble().functionLayers(world.environment.RESOLVER_FUNCTION ?? '');
    await resolver.change(() => [...world.others]);
    expect(await world.update()).toMatchObject({ outcome: 'updated' });
    expect(await world.attached()).toEqual([...world.others, (await world.pointer())?.layerVersionArn]);
  });

  it('of two at once, one works and one leaves', async () => {
    await release('2026.11.20');
    const outcomes = await Promise.all([world.update(), world.update()]);
    expect(outcomes).toContainEqual({ outcome: 'busy' });
    expect(outcomes).toContainEqual({ outcome: 'updated', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
    expect(world.figures).toEqual(['maintained', 'age', 'updated']);
  });

  it('does nothing that it was told not to begin', async () => {
    await release('2026.11.20');
    await expect(world.update(AbortSignal.abort(new Error('no time left')))).rejects.toThrow();
    expect(await world.attached()).toContain(world.placeholder);
  });
});

describe('a release that is pinned', () => {
  it('is gone back to, for the resolver and the tasks, and stays whatever is new', async () => {
    await release('2026.11.01');
    await world.update();
    await release('2026.11.20');
    await world.update();
    world.pin('2026.11.01');
    await works('2026.11.01');
    expect(await world.update()).toEqual({ outcome: 'updated', version: '2026.11.01' });
    expect(await inPlace()).toBe('2026.11.01');
    await release('2026.11.21');
    expect(await world.update()).toEqual({ outcome: 'current', version: '2026.11.01' });
    expect(await inPlace()).toBe('2026.11.01');

    world.pin(undefined);
    expect(await world.update()).toEqual({ outcome: 'updated', version: '2026.11.21' });
    expect(await inPlace()).toBe('2026.11.21');
  });

  it('is fetched when it is kept no longer, and nobody is asked for the newest', async () => {
    await release('2026.11.20');
    await world.update();
    await release('2026.08.19');
    pages.latest = undefined;
    world.pin('2026.08.19');
    expect(await world.update()).toEqual({ outcome: 'updated', version: '2026.08.19' });
    expect(await inPlace()).toBe('2026.08.19');
  });

  it('and cannot be had leaves what is in use, and gives an alarm', async () => {
    await release('2026.11.20');
    await world.update();
    world.pin('2026.08.19');
    await expect(world.update()).rejects.toThrow(/404/);
    expect(await inPlace()).toBe('2026.11.20');
    expect(world.figures.at(-1)).toBe('failed');
  });
});

describe('a release that is not to be trusted', () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      'a file that was changed',
      async () => pages.files.set(`2026.11.20/${ASSET}`, await archiveOf('9')),
      /does not match its checksum/,
    ],
    ['a wrong sum', () => pages.files.set('2026.11.20/SHA2-256SUMS', Buffer.from('0'.repeat(64))), /not signed/],
    [
      'a signature of somebody else',
      async () => pages.publish('2026.11.20', ASSET, await archiveOf('2026.11.20'), 'stranger'),
      /not signed by the pinned key/,
    ],
    [
      'a download that ends early',
      async () => pages.files.set(`2026.11.20/${ASSET}`, { cut: await archiveOf('2026.11.20') }),
      /closed the connection|Content-Length/,
    ],
    ['no file for this processor', () => pages.files.delete(`2026.11.20/${ASSET}`), /upstream returned 404/],
    [
      'pages that do not answer',
      () => {
        pages.latest = undefined;
      },
      /Failed to find the newest release/,
    ],
  ])('%s: the one before stays, an alarm is given, nothing is published', async (_, spoil, reason) => {
    await release('2026.11.01');
    await world.update();
    world.figures.length = 0;
    await release('2026.11.20');
    await spoil();
    await expect(world.update()).rejects.toThrow(reason);
    expect(world.figures).toEqual(['age', 'failed']);
    expect(world.steps.filter((step) => step === 'archived')).toHaveLength(1);
    expect(await inPlace()).toBe('2026.11.01');
  });

  it('an older release under a new name: what runs in the canary gives it away, and it is removed', async () => {
    await release('2026.11.01');
    await world.update();
    await pages.publish('2026.11.20', ASSET, await archiveOf('2026.11.01'));
    await works('2026.11.01');
    await expect(world.update()).rejects.toThrow(/reports version 2026\.11\.01/);
    expect(await inPlace()).toBe('2026.11.01');
    expect(await world.assemble().dependencies.layers.versions()).toHaveLength(1);
    expect(await world.archives()).toHaveLength(1);
  });

  it('a release that the canary refuses', async () => {
    await release('2026.11.01');
    await world.update();
    await pages.publish('2026.11.20', ASSET, await archiveOf('2026.11.20'));
    await moto.answerInvocations(JSON.stringify({ ok: false, reason: 'it tells a 404 as bug' }));
    await expect(world.update()).rejects.toThrow(/does not work: it tells a 404 as bug/);
    expect(await inPlace()).toBe('2026.11.01');
    expect(world.figures).toEqual(['maintained', 'age', 'updated', 'age', 'failed']);
  });

  it.each(['', 'not JSON', 'null', '{"ok":true}', '{"ok":"yes","version":"2026.11.20"}'])(
    'a canary that answers %j has said nothing',
    async (answer) => {
      await pages.publish('2026.11.20', ASSET, await archiveOf('2026.11.20'));
      await moto.answerInvocations(answer);
      await expect(world.update()).rejects.toThrow(/Invalid response of the canary/);
      expect(await world.attached()).toContain(world.placeholder);
      expect(await world.state.getTools()).toBeUndefined();
    },
  );
});
