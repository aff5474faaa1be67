import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createToolsLayer } from '../../../lambdas/tools-update/tools-layer.ts';
import { updateTools } from '../../../lambdas/tools-update/update-tools.ts';
import { startReleasePages } from '../../layers/tools/release-pages.ts';
import { temporaryFolder } from '../../layers/tools/temporary.ts';
import { zip } from '../../layers/tools/zip.ts';
import { startMoto } from '../../support/moto.ts';
import { ASSET, createWorld, type World } from './fakes.ts';

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

const { signal } = new AbortController();
const release = async (version: string, said = version) => {
  await pages.publish(version, ASSET, await zip(root, [['yt-dlp_linux', version]]));
  await moto.answerInvocations(JSON.stringify({ ok: true, version: said }));
};
/** As CloudFormation asks at each deployment. */
const deploy = async (patience = 0) => {
  const layerName = world.environment.LAYER_NAME ?? '';
  const { physicalId, data } = await createToolsLayer({
    ...world.assemble().dependencies,
    layerName,
    maxWaitMs: patience,
  }).provide({
    signal,
  });
  expect(physicalId).toBe(layerName);
  return data?.LayerVersionArn;
};
const versions = () => world.assemble().dependencies.layers.versions();

describe('the tools layer of a deployment', () => {
  it('is the newest release at the first, which is then in place for everybody', async () => {
    await release('2026.11.20');
    const arn = await deploy();
    expect(arn).toBe((await versions())[0]?.arn);
    expect(await world.pointer()).toMatchObject({ version: '2026.11.20', layerVersionArn: arn });
    expect(await world.state.getTools()).toMatchObject({ ytDlp: '2026.11.20' });
    expect(world.steps).not.toContain('maintained');
    expect(await world.attached()).toContain(world.placeholder);
  });

  it('is the placeholder, hence maintenance, when none can be had, and an alarm is given', async () => {
    expect(await deploy()).toBe(world.placeholder);
    expect(await world.state.getTools()).toBeUndefined();
    expect(world.figures).toEqual(['failed']);
  });

  it('is the placeholder when the only release does not work', async () => {
    await release('2026.11.20', '2020.01.01');
    expect(await deploy()).toBe(world.placeholder);
    expect(await versions()).toEqual([]);
  });

  it('is what an update has attached since, also when nobody tells of releases', async () => {
    await release('2026.11.01');
    await deploy();
    await release('2026.11.20');
    await world.update();
    pages.latest = undefined;
    expect(await world.attached()).toContain(await deploy());
    expect((await world.pointer())?.version).toBe('2026.11.20');
  });

  it('stays through all updates until the next deployments: CloudFormation may go back to it', async () => {
    await release('2026.10.01');
    const arn = await deploy();
    for (const day of ['01', '02', '03', '04']) {
      await release(`2026.11.${day}`);
      await world.update();
    }
    const described = async () => (await versions()).map(({ description }) => description.split(' ')[1]);
    const kept = ['2026.11.04', '2026.11.03', '2026.11.02'];
    expect(await described()).toEqual([...kept, '2026.10.01']);
    expect((await versions()).at(-1)?.arn).toBe(arn);

    for (let deployment = 0; deployment < 5; deployment++) await deploy();
    await release('2026.11.05');
    await world.update();
    expect(await described()).toContain('2026.10.01');
    expect(await world.assemble().dependencies.archive.deployed()).toHaveLength(2);
  });

  it('is what an update had published before it died, when nobody tells of releases', async () => {
    await release('2026.11.01');
    await deploy();
    await release('2026.11.20');
    const { dependencies: parts, functionLayers } = world.assemble();
    const movePointer = () => Promise.reject(new Error('killed'));
    const resolver = functionLayers(world.environment.RESOLVER_FUNCTION ?? '');
    const unfinished = { ...parts, resolver, archive: { ...parts.archive, movePointer } };
    await expect(updateTools(unfinished, signal)).rejects.toThrow('killed');
    pages.latest = undefined;
    await moto.answerInvocations(JSON.stringify({ ok: true, version: '2026.11.20' }));
    expect(await deploy()).toBe((await versions())[0]?.arn);
    expect((await world.pointer())?.version).toBe('2026.11.20');
  });

  it('is the one before when the newest release does not work', async () => {
    await release('2026.11.01');
    const before = await deploy();
    await release('2026.11.20', '2026.11.01');
    expect(await deploy()).toBe(before);
    expect(world.figures.at(-2)).toBe('failed');
  });

  it('is never an older release', async () => {
    await release('2026.11.20');
    const before = await deploy();
    await release('2026.11.01');
    expect(await deploy()).toBe(before);
  });

  it('is an older release where that is pinned, for the tasks too, until another one is', async () => {
    await release('2026.11.01');
    const before = await deploy();
    await release('2026.11.20');
    const newer = await deploy();
    world.pin('2026.11.01');
    await moto.answerInvocations(JSON.stringify({ ok: true, version: '2026.11.01' }));
    for (let deployment = 0; deployment < 2; deployment++) expect(await deploy()).toBe(before);
    expect(await world.pointer()).toMatchObject({ version: '2026.11.01', layerVersionArn: before });
    expect(await world.state.getTools()).toMatchObject({ ytDlp: '2026.11.01' });

    world.pin('');
    await moto.answerInvocations(JSON.stringify({ ok: true, version: '2026.11.20' }));
    expect(await deploy()).toBe(newer);
  });

  it('is the one in use while an update is under way', async () => {
    await release('2026.11.01');
    const before = await deploy();
    await release('2026.11.20');
    await world.state.takeToolsUpdate({ owner: 'another', expiresAt: Math.floor(Date.now() / 1000) + 60 });
    expect(await deploy()).toBe(before);
    await world.state.endToolsUpdate('another');
    expect(await deploy()).not.toBe(before);
  });

  it('fails the deployment rather than turn it back when nobody can tell what is in use', async () => {
    await release('2026.11.20');
    await deploy();
    const { dependencies: parts } = world.assemble();
    const archive = { ...parts.archive, pointer: () => Promise.reject(new Error('Access Denied')) };
    const layer = createToolsLayer({ ...parts, archive, layerName: 'x' });
    await expect(layer.provide({ signal })).rejects.toThrow('Access Denied');
  });

  it('goes with every version when the stack is deleted, and may be deleted again', async () => {
    await release('2026.11.01');
    await deploy();
    await release('2026.11.20');
    await deploy();
    expect(await versions()).toHaveLength(2);
    const layer = createToolsLayer({ ...world.assemble().dependencies, layerName: 'x' });
    await layer.remove();
    expect(await versions()).toEqual([]);
    await layer.remove();
  });
});
