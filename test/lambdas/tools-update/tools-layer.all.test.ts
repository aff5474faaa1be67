import { beforeEach, describe, expect, it } from 'vitest';
import { provideTools, removeTools, updateTools } from '../../../lambdas/tools-update/update-tools.ts';
import { zip } from '../../yt-dlp-worker/zip.ts';
import { ASSET, type ToolsUpdateFixture, useReleases } from './fixture.ts';

const { moto, pages, root, createEmptyFixture } = await useReleases();

let fixture: ToolsUpdateFixture;
beforeEach(async () => {
  fixture = await createEmptyFixture();
});

const { signal } = new AbortController();
const release = async (version: string, said = version) => {
  await pages.publish(version, ASSET, await zip(root, [['yt-dlp_linux', version]]));
  await moto.answerInvocations(JSON.stringify({ ok: true, version: said }));
};
/** The request that CloudFormation sends in each deployment. */
const deploy = async (patience = 0) => {
  await provideTools(fixture.assemble(), signal, patience);
  const [one, two, arn, ...others] = await fixture.attached();
  expect([one, two, others]).toEqual([...fixture.others, []]);
  return arn;
};
const versions = () => fixture.assemble().layers.versions();

describe('provideTools and removeTools', () => {
  it('provides the newest release in the first deployment and points the tasks to it', async () => {
    await release('2026.11.20');
    const arn = await deploy();
    expect(arn).toBe((await versions())[0]?.arn);
    expect(await fixture.pointer()).toMatchObject({ version: '2026.11.20', layerVersionArn: arn });
    expect(await fixture.state.getTools()).toMatchObject({ ytDlp: '2026.11.20' });
    expect(fixture.steps).not.toContain('maintained');
  });

  it('is empty, with an alarm, when no release is available: maintenance', async () => {
    expect(await deploy()).toBeUndefined();
    expect(await fixture.state.getTools()).toBeUndefined();
    expect(fixture.figures).toEqual(['failed']);
  });

  it('is empty when the only release does not work', async () => {
    await release('2026.11.20', '2020.01.01');
    expect(await deploy()).toBeUndefined();
    expect(await versions()).toEqual([]);
  });

  it('provides the release that an update has attached, also when releases are unavailable', async () => {
    await release('2026.11.01');
    await deploy();
    await release('2026.11.20');
    await fixture.update();
    pages.latest = undefined;
    expect(await fixture.attached()).toContain(await deploy());
    expect((await fixture.pointer())?.version).toBe('2026.11.20');
  });

  it('provides what a killed update had published when releases are unavailable', async () => {
    await release('2026.11.01');
    await deploy();
    await release('2026.11.20');
    const parts = fixture.assemble();
    const movePointer = () => Promise.reject(new Error('killed'));
    const unfinished = { ...parts, archive: { ...parts.archive, movePointer } };
    await expect(updateTools(unfinished, signal)).rejects.toThrow('killed');
    pages.latest = undefined;
    await moto.answerInvocations(JSON.stringify({ ok: true, version: '2026.11.20' }));
    expect(await deploy()).toBe((await versions())[0]?.arn);
    expect((await fixture.pointer())?.version).toBe('2026.11.20');
  });

  it('provides the former release when the newest does not work', async () => {
    await release('2026.11.01');
    const before = await deploy();
    await release('2026.11.20', '2026.11.01');
    expect(await deploy()).toBe(before);
    expect(fixture.figures.slice(-2)).toEqual(['age', 'failed']);
  });

  it('provides the former release when canary links do not resolve with the newest', async () => {
    await release('2026.11.01');
    const before = await deploy();
    await release('2026.11.20');
    const parts = fixture.assemble();
    const { check } = parts.resolver;
    const resolver: typeof parts.resolver = {
      ...parts.resolver,
      check: async (version, until, links) => {
        if (links.length > 0) return { ok: false, reason: 'a canary link does not resolve' };
        await moto.answerInvocations(JSON.stringify({ ok: true, version: '2026.11.01' }));
        return check(version, until, links);
      },
    };
    await provideTools({ ...parts, canaryLinks: ['https://site.example/watch'], resolver }, signal);
    expect(await fixture.attached()).toContain(before);
    expect((await fixture.pointer())?.version).toBe('2026.11.01');
    expect(fixture.figures.slice(-2)).toEqual(['age', 'failed']);
  });

  it('never provides an older release than the one in use', async () => {
    await release('2026.11.20');
    const before = await deploy();
    await release('2026.11.01');
    expect(await deploy()).toBe(before);
  });

  it('is the one in use while an update is under way', async () => {
    await release('2026.11.01');
    const before = await deploy();
    await release('2026.11.20');
    await fixture.state.takeToolsUpdate({ owner: 'another', expiresAt: Math.floor(Date.now() / 1000) + 60 });
    expect(await deploy()).toBe(before);
    await fixture.state.endToolsUpdate('another');
    expect(await deploy()).not.toBe(before);
  });

  it('fails the deployment instead of downgrading when the release in use is unknown', async () => {
    await release('2026.11.20');
    await deploy();
    const parts = fixture.assemble();
    const archive = { ...parts.archive, pointer: () => Promise.reject(new Error('Access Denied')) };
    await expect(provideTools({ ...parts, archive }, signal)).rejects.toThrow('Access Denied');
  });

  it('deletes every version with the stack, idempotently', async () => {
    await release('2026.11.01');
    await deploy();
    await release('2026.11.20');
    await deploy();
    expect(await versions()).toHaveLength(2);
    await removeTools(fixture.assemble());
    expect(await versions()).toEqual([]);
    await removeTools(fixture.assemble());
  });
});
