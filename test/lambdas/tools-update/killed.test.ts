import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Step } from '../../../lambdas/tools-update/types.ts';
import { startReleasePages } from '../../layers/tools/release-pages.ts';
import { temporaryFolder } from '../../layers/tools/temporary.ts';
import { zip } from '../../layers/tools/zip.ts';
import { startMoto } from '../../support/moto.ts';
import { ASSET, createWorld, type World } from './fakes.ts';

const CHILD = resolve(import.meta.dirname, 'killed-update.ts');
const [OLD, NEW] = ['2026.11.01', '2026.11.20'];
const moto = await startMoto();
const pages = await startReleasePages();
const root = await temporaryFolder();
const keyFile = join(root, 'key.asc');
await writeFile(keyFile, pages.key);
afterAll(async () => {
  pages.close();
  await moto.close();
});

const release = async (version: string) => {
  await pages.publish(version, ASSET, await zip(root, [['yt-dlp_linux', version]]));
};
const works = (version: string) => moto.answerInvocations(JSON.stringify({ ok: true, version }));

/** An instance whose update to the new release was killed right after a step. */
async function killedAfter(step: Step): Promise<World> {
  await moto.reset();
  const world = await createWorld({ endpoint: moto.endpoint, pages, leaseSeconds: 1 });
  await release(OLD);
  await works(OLD);
  await world.update();
  await release(NEW);
  await works(NEW);
  const child = spawn(process.execPath, [CHILD, step, pages.url, keyFile], {
    env: { ...process.env, ...world.environment, TMPDIR: root, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [, signal] = await once(child, 'exit');
  expect(signal, `it was to be killed after ${step}`).toBe('SIGKILL');
  return world;
}

const versionsAttached = async (world: World) => {
  const [attached, versions] = await Promise.all([world.attached(), world.assemble().dependencies.layers.versions()]);
  return versions.filter(({ arn }) => attached.includes(arn)).map(({ description }) => description.split(' ')[1]);
};

describe('an update that is killed', () => {
  it.each<Step>([
    'leased',
    'looked',
    'fetched',
    'archived',
    'published',
    'tried',
    'maintained',
    'attached',
    'pointed',
    'cleared',
    'recorded',
    'pruned',
  ])('after it has %s leaves an instance that is available again by itself, and the next goes on', async (step) => {
    const world = await killedAfter(step);
    expect([[OLD], [NEW]]).toContainEqual(await versionsAttached(world));
    expect(await world.attached()).toEqual(expect.arrayContaining([...world.others]));
    expect([OLD, NEW]).toContain((await world.pointer())?.version);
    expect(await world.state.getTools()).toBeDefined();
    await expect.poll(() => world.state.getMaintenance(), { timeout: 5_000 }).toBeUndefined();

    // The canary may be asked again: it answers the same.
    await works(NEW);
    await expect.poll(async () => (await world.update()).outcome, { timeout: 10_000 }).not.toBe('busy');
    const pointer = await world.pointer();
    expect(pointer?.version).toBe(NEW);
    expect(await world.attached()).toEqual([world.others[0], pointer?.layerVersionArn, world.others[1]]);
    expect(await world.state.getTools()).toMatchObject({ ytDlp: NEW });
    expect(await world.state.getMaintenance()).toBeUndefined();
    // What was published is used, not published again.
    expect(await world.assemble().dependencies.layers.versions()).toHaveLength(2);
    expect(await world.archives()).toHaveLength(2);
  });
});
