import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Step } from '../../../lambdas/tools-update/create-tools-update.ts';
import { bundleProgram } from '../../support/bundle-program.ts';
import { zip } from '../../yt-dlp-worker/zip.ts';
import { ASSET, createFixture, type ToolsUpdateFixture, useReleases } from './fixture.ts';

const [OLD, NEW] = ['2026.11.01', '2026.11.20'];
const { moto, pages, root } = await useReleases();
const keyFile = join(root, 'key.asc');
await writeFile(keyFile, pages.key);
const child = await bundleProgram(resolve(import.meta.dirname, 'killed-update.ts'));

const release = async (version: string) => {
  await pages.publish(version, ASSET, await zip(root, [['yt-dlp_linux', version]]));
};
const works = (version: string, invocations = 1) =>
  moto.answerInvocations(...Array<string>(invocations).fill(JSON.stringify({ ok: true, version })));

/** A fixture whose update to the new release was killed right after a step. */
async function killedAfter(step: Step): Promise<ToolsUpdateFixture> {
  await moto.reset();
  const fixture = await createFixture({ endpoint: moto.endpoint, pages, leaseSeconds: 1 });
  await release(OLD);
  await works(OLD);
  await fixture.update();
  await release(NEW);
  // The canary, and the version of the resolver.
  await works(NEW, 2);
  const update = spawn(process.execPath, [child, step, pages.url, keyFile], {
    env: { ...process.env, ...fixture.environment, TMPDIR: root, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [, signal] = await once(update, 'exit');
  expect(signal, `it was to be killed after ${step}`).toBe('SIGKILL');
  return fixture;
}

const versionsAttached = async (fixture: ToolsUpdateFixture) => {
  const [attached, versions] = await Promise.all([fixture.attached(), fixture.assemble().layers.versions()]);
  return versions.filter(({ arn }) => attached.includes(arn)).map(({ description }) => description.split(' ')[1]);
};

// The other steps change nothing in AWS.
describe('updateTools when its process is killed', () => {
  it.each<Step>([
    'leased',
    'archived',
    'published',
    'checked',
    'maintained',
    'attached',
    'pointed',
    'cleared',
    'recorded',
  ])('becomes available again by itself and completes in the next run: killed after "%s"', async (step) => {
    const fixture = await killedAfter(step);
    expect([[OLD], [NEW]]).toContainEqual(await versionsAttached(fixture));
    expect(await fixture.attached()).toEqual(expect.arrayContaining([...fixture.others]));
    expect([OLD, NEW]).toContain((await fixture.pointer())?.version);
    expect(await fixture.state.getTools()).toBeDefined();
    await expect.poll(() => fixture.state.getMaintenance()).toBeUndefined();

    // Invoking the canary again returns the same result.
    await works(NEW);
    await expect.poll(async () => (await fixture.update()).outcome).not.toBe('busy');
    const pointer = await fixture.pointer();
    expect(pointer?.version).toBe(NEW);
    expect(await fixture.attached()).toEqual([...fixture.others, pointer?.layerVersionArn]);
    expect(await fixture.state.getTools()).toMatchObject({ ytDlp: NEW });
    expect(await fixture.state.getMaintenance()).toBeUndefined();
    // What was published is used, not published again.
    expect(await fixture.assemble().layers.versions()).toHaveLength(2);
    expect(await fixture.archives()).toHaveLength(2);
  });
});
