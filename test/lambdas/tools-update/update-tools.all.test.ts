import { beforeEach, describe, expect, it } from 'vitest';
import { rollBack } from '../../../lambdas/tools-update/update-tools.ts';
import { zip } from '../../yt-dlp-worker/zip.ts';
import { ASSET, type ToolsUpdateFixture, useReleases } from './fixture.ts';

/** Successful updates and untrusted releases against moto; failures of AWS are in faults.all.test.ts. */
const { moto, pages, root, createEmptyFixture } = await useReleases();

let fixture: ToolsUpdateFixture;
beforeEach(async () => {
  fixture = await createEmptyFixture();
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
  const [one, two] = fixture.others;
  const pointer = await fixture.pointer();
  expect(await fixture.attached()).toEqual([one, two, pointer?.layerVersionArn]);
  expect((await fixture.state.getTools())?.ytDlp).toBe(pointer?.version);
  expect(await fixture.state.getMaintenance()).toBeUndefined();
  return pointer?.version;
};

describe('installMissingTools', () => {
  it('installs a release after a failed first fetch, and records that none was installed', async () => {
    await expect(fixture.installMissing()).rejects.toThrow();
    expect(fixture.figures).toEqual(['missing', 'failed']);
    await release('2026.11.20');
    expect(await fixture.installMissing()).toEqual({ outcome: 'updated', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
  });

  it('takes no lease and does not look for releases while one is in use', async () => {
    await release('2026.11.20');
    await fixture.update();
    await release('2026.11.21');
    fixture.steps.length = 0;
    fixture.figures.length = 0;
    expect(await fixture.installMissing()).toEqual({ outcome: 'current', version: '2026.11.20' });
    expect([fixture.steps, fixture.figures]).toEqual([[], []]);
  });
});

describe('an update', () => {
  it('makes a version of the resolver with the newest release live, and keeps its other layers', async () => {
    await release('2026.11.20');
    expect(await fixture.update()).toEqual({ outcome: 'updated', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
    expect(await fixture.archives()).toEqual([`releases/2026.11.20/${ASSET}`]);
    expect(await fixture.pointer()).toMatchObject({
      key: `releases/2026.11.20/${ASSET}`,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes: (await archiveOf('2026.11.20')).length,
      publishedAt: expect.any(Number),
    });
    expect(fixture.figures).toEqual(['age']);
  });

  it('takes no lease, publishes nothing and invokes no canary when nothing is new', async () => {
    await release('2026.11.20');
    await fixture.update();
    fixture.steps.length = 0;
    expect(await fixture.update()).toEqual({ outcome: 'current', version: '2026.11.20' });
    expect(fixture.steps).toEqual(['leased', 'looked', 'pruned']);
  });

  it('is in maintenance only while the alias and the pointer move', async () => {
    await release('2026.11.20');
    await fixture.update();
    expect(fixture.steps).not.toContain('maintained');
    await release('2026.11.21');
    fixture.steps.length = 0;
    await fixture.update();
    expect(fixture.steps.indexOf('checked')).toBeLessThan(fixture.steps.indexOf('maintained'));
    const held = fixture.steps.slice(fixture.steps.indexOf('maintained'), fixture.steps.indexOf('cleared'));
    expect(held).toEqual(['maintained', 'attached', 'pointed']);
  });

  it('attaches a layer again that has been detached', async () => {
    await release('2026.11.20');
    await fixture.update();
    const { resolver } = fixture.assemble();
    await resolver.switchTo(await resolver.publish(() => [...fixture.others], new AbortController().signal));
    expect(await fixture.update()).toMatchObject({ outcome: 'updated' });
    expect(await fixture.attached()).toEqual([...fixture.others, (await fixture.pointer())?.layerVersionArn]);
  });

  it('runs once when invoked concurrently', async () => {
    await release('2026.11.20');
    const outcomes = await Promise.all([fixture.update(), fixture.update()]);
    expect(outcomes).toContainEqual({ outcome: 'busy' });
    expect(outcomes).toContainEqual({ outcome: 'updated', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
    expect(fixture.figures).toEqual(['age']);
  });

  it('does nothing after the signal was aborted', async () => {
    await release('2026.11.20');
    await expect(fixture.update(AbortSignal.abort(new Error('no time left')))).rejects.toThrow();
    expect(await fixture.attached()).toEqual([]);
  });
});

describe('rollBack', () => {
  beforeEach(async () => {
    for (const version of ['2026.11.01', '2026.11.20']) {
      await release(version);
      await fixture.update();
    }
  });

  it('keeps a release without canary links, whatever clients ask for', async () => {
    expect(await fixture.rollBack()).toEqual({ outcome: 'kept', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
  });

  /** A run with canary links, which resolve or not with the live version. */
  const rollBackWith = (canaryLinks: readonly string[], resolves: boolean) => {
    const parts = fixture.assemble();
    const check: typeof parts.resolver.check = async (version, signal, links) =>
      links.length > 0 && !resolves && version === live
        ? { ok: false, reason: 'a canary link does not resolve' }
        : parts.resolver.check(version, signal, []);
    let live: string | undefined;
    const read = async () => {
      const found = await parts.resolver.read();
      live = found.version;
      return found;
    };
    const resolver = { ...parts.resolver, read, check };
    return rollBack({ ...parts, canaryLinks, resolver }, new AbortController().signal);
  };

  it('keeps a release with which the canary links resolve, whatever clients ask for', async () => {
    expect(await rollBackWith(['https://a.example/1'], true)).toEqual({ outcome: 'kept', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
    expect((await fixture.pointer())?.refused).toBeUndefined();
  });

  it('returns to the release before a recent switch, and excludes one that fails canary links until it is pinned', async () => {
    const outcome = await rollBackWith(['https://a.example/1'], false);
    expect(outcome).toEqual({ outcome: 'rolled back', version: '2026.11.01' });
    expect((await fixture.pointer())?.refused).toEqual(['2026.11.20']);
    expect(await inPlace()).toBe('2026.11.01');
    expect(await fixture.update()).toEqual({ outcome: 'current', version: '2026.11.01' });
    fixture.pin('2026.11.20');
    await works('2026.11.20');
    expect(await fixture.update()).toEqual({ outcome: 'updated', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
  });

  it('does not return twice, and leaves a newer release to the next update', async () => {
    await rollBackWith(['https://a.example/1'], false);
    expect(await rollBackWith(['https://a.example/1'], false)).toEqual({ outcome: 'kept', version: '2026.11.01' });
    await release('2026.11.21');
    expect(await fixture.update()).toEqual({ outcome: 'updated', version: '2026.11.21' });
    expect(await inPlace()).toBe('2026.11.21');
  });

  it('keeps a pinned release', async () => {
    fixture.pin('2026.11.20');
    expect(await rollBackWith(['https://a.example/1'], false)).toEqual({ outcome: 'kept', version: '2026.11.20' });
    expect(await inPlace()).toBe('2026.11.20');
  });

  it('keeps a release that was switched to more than an hour ago', async () => {
    const { archive } = fixture.assemble();
    const pointer = await fixture.pointer();
    if (pointer) await archive.movePointer({ ...pointer, publishedAt: pointer.publishedAt - 3_601 });
    expect(await rollBackWith(['https://a.example/1'], false)).toMatchObject({ outcome: 'kept' });
    expect(await inPlace()).toBe('2026.11.20');
  });
});

describe('updateTools with a pinned release', () => {
  it('downgrades resolver and tasks to it and ignores newer releases', async () => {
    await release('2026.11.01');
    await fixture.update();
    await release('2026.11.20');
    await fixture.update();
    fixture.pin('2026.11.01');
    await works('2026.11.01');
    expect(await fixture.update()).toEqual({ outcome: 'updated', version: '2026.11.01' });
    expect(await inPlace()).toBe('2026.11.01');
    await release('2026.11.21');
    expect(await fixture.update()).toEqual({ outcome: 'current', version: '2026.11.01' });
    expect(await inPlace()).toBe('2026.11.01');

    fixture.pin(undefined);
    expect(await fixture.update()).toEqual({ outcome: 'updated', version: '2026.11.21' });
    expect(await inPlace()).toBe('2026.11.21');
  });

  it('fetches it when its archive is gone, without looking for the newest', async () => {
    await release('2026.11.20');
    await fixture.update();
    await release('2026.08.19');
    pages.latest = undefined;
    fixture.pin('2026.08.19');
    expect(await fixture.update()).toEqual({ outcome: 'updated', version: '2026.08.19' });
    expect(await inPlace()).toBe('2026.08.19');
  });

  it('keeps the release in use and records a failure when the pinned one is unavailable', async () => {
    await release('2026.11.20');
    await fixture.update();
    fixture.pin('2026.08.19');
    await expect(fixture.update()).rejects.toThrow(/404/);
    expect(await inPlace()).toBe('2026.11.20');
    expect(fixture.figures.at(-1)).toBe('failed');
  });
});

describe('updateTools with an untrusted release', () => {
  const SPOILED: readonly (readonly [what: string, spoil: () => unknown, reason: RegExp])[] = [
    [
      'a modified file',
      async () => pages.files.set(`2026.11.20/${ASSET}`, await archiveOf('9')),
      /does not match its checksum/,
    ],
    ['a wrong checksum', () => pages.files.set('2026.11.20/SHA2-256SUMS', Buffer.from('0'.repeat(64))), /not signed/],
    [
      'a signature by another key',
      async () => pages.publish('2026.11.20', ASSET, await archiveOf('2026.11.20'), 'stranger'),
      /not signed by the pinned key/,
    ],
    [
      'a truncated download',
      async () => pages.files.set(`2026.11.20/${ASSET}`, { cut: await archiveOf('2026.11.20') }),
      /closed the connection|Content-Length/,
    ],
    ['no file for this architecture', () => pages.files.delete(`2026.11.20/${ASSET}`), /upstream returned 404/],
    [
      'unavailable release pages',
      () => {
        pages.latest = undefined;
      },
      /Failed to find the newest release/,
    ],
  ];

  it('keeps the former release, records a failure and publishes nothing', async () => {
    await release('2026.11.01');
    await fixture.update();
    for (const [what, spoil, reason] of SPOILED) {
      fixture.figures.length = 0;
      await release('2026.11.20');
      await spoil();
      await expect(fixture.update(), what).rejects.toThrow(reason);
      expect(fixture.figures, what).toEqual(['age', 'failed']);
      expect(await inPlace(), what).toBe('2026.11.01');
    }
    expect(fixture.steps.filter((step) => step === 'archived')).toHaveLength(1);
  });

  it('removes an older release under a new name, whose version the canary reports', async () => {
    await release('2026.11.01');
    await fixture.update();
    await pages.publish('2026.11.20', ASSET, await archiveOf('2026.11.01'));
    await works('2026.11.01');
    await expect(fixture.update()).rejects.toThrow(/reports version 2026\.11\.01/);
    expect(await inPlace()).toBe('2026.11.01');
    expect(await fixture.assemble().layers.versions()).toHaveLength(1);
    expect(await fixture.archives()).toHaveLength(1);
  });

  it('keeps the former release when the canary rejects the new one', async () => {
    await release('2026.11.01');
    await fixture.update();
    await pages.publish('2026.11.20', ASSET, await archiveOf('2026.11.20'));
    await moto.answerInvocations(JSON.stringify({ ok: false, reason: 'it reports a 404 as bug' }));
    await expect(fixture.update()).rejects.toThrow(/does not work: it reports a 404 as bug/);
    expect(await inPlace()).toBe('2026.11.01');
    expect(fixture.figures).toEqual(['age', 'age', 'failed']);
  });

  it('rejects an invalid response of the canary', async () => {
    await pages.publish('2026.11.20', ASSET, await archiveOf('2026.11.20'));
    for (const answer of ['', 'not JSON', 'null', '{"ok":true}', '{"ok":"yes","version":"2026.11.20"}']) {
      await moto.answerInvocations(answer);
      await expect(fixture.update(), answer).rejects.toThrow(/Invalid response of the canary/);
    }
    expect(await fixture.attached()).toEqual([]);
    expect(await fixture.state.getTools()).toBeUndefined();
  });
});
