import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { updateTools } from '../../../lambdas/tools-update/update-tools.ts';
import { startReleasePages } from '../../layers/tools/release-pages.ts';
import { temporaryFolder } from '../../layers/tools/temporary.ts';
import { zip } from '../../layers/tools/zip.ts';
import { startMoto } from '../../support/moto.ts';
import { type FakeLambda, startFakeLambda } from './fake-lambda.ts';
import { ASSET, createWorld, type World } from './fakes.ts';

/** What moto does not fail: a stand-in for Lambda that does, beside moto's S3 and DynamoDB. */
const [OLD, NEW] = ['2026.11.01', '2026.11.20'];
const moto = await startMoto();
const pages = await startReleasePages();
const root = await temporaryFolder();
afterAll(async () => {
  pages.close();
  await moto.close();
});

let lambda: FakeLambda;
let world: World;
const release = async (version: string) => {
  await pages.publish(version, ASSET, await zip(root, [['yt-dlp_linux', version]]));
  lambda.canary = { payload: { ok: true, version } };
};
beforeEach(async () => {
  await moto.reset();
  lambda = await startFakeLambda(moto.endpoint);
  world = await createWorld({ endpoint: moto.endpoint, lambdaEndpoint: lambda.endpoint, pages });
  await release(OLD);
  await world.update();
  await release(NEW);
  world.figures.length = 0;
  world.steps.length = 0;
});
afterEach(() => lambda.close());

const versionOf = async (arns: readonly string[]) => {
  const versions = await world.assemble().dependencies.layers.versions();
  return versions.filter(({ arn }) => arns.includes(arn)).map(({ description }) => description.split(' ')[1]);
};
/** All that must hold after a run, whatever came of it. */
const isInPlace = async (version: string) => {
  expect(await versionOf(lambda.effective())).toEqual([version]);
  expect(await versionOf(await world.attached())).toEqual([version]);
  expect((await world.pointer())?.version).toBe(version);
  expect((await world.state.getTools())?.ytDlp).toBe(version);
  expect(await world.state.getMaintenance()).toBeUndefined();
  expect(await world.attached()).toEqual(expect.arrayContaining([...world.others]));
};
const failsWith = async (reason: RegExp) => {
  await expect(world.update()).rejects.toThrow(reason);
  expect(world.figures.at(-1)).toBe('failed');
  expect(world.figures).not.toContain('updated');
  await isInPlace(OLD);
};
const goesOn = async () => {
  expect(await world.update()).toEqual({ outcome: 'updated', version: NEW });
  await isInPlace(NEW);
};
const CONFLICT = { status: 409, type: 'ResourceConflictException' };
const THROTTLE = { status: 429, type: 'TooManyRequestsException' };
const BROKEN = { status: 500, type: 'ServiceException' };

describe('an update that meets', () => {
  it('layers that do not come into force: the resolver gets back what it had, and the next run goes on', async () => {
    lambda.endChange('resolver', { status: 'Failed', looks: 2 });
    await failsWith(/did not take its new layers: The layer cannot be mounted/);
    await goesOn();
  });

  it('a resolver that takes nothing at all: the next run puts it right', async () => {
    lambda.endChange('resolver', { status: 'Failed', looks: 0 }, { status: 'Failed', looks: 0 });
    await expect(world.update()).rejects.toThrow(/former layers were not restored/);
    expect(await versionOf(lambda.effective())).toEqual([OLD]);
    expect(await world.state.getMaintenance()).toBeUndefined();
    expect((await world.pointer())?.version).toBe(OLD);
    await goesOn();
  });

  it('a slow change: waits for it before the pointer moves', async () => {
    lambda.endChange('resolver', { status: 'Successful', looks: 6 });
    await goesOn();
  });

  it('conflicts: tries again', async () => {
    lambda.fail('PUT resolver', CONFLICT, CONFLICT);
    lambda.fail('PUT canary', CONFLICT);
    await goesOn();
  });

  it('conflicts without end: leaves the version before', async () => {
    lambda.fail('PUT resolver', ...Array<typeof CONFLICT>(5).fill(CONFLICT));
    await failsWith(/was changed concurrently 5 times/);
    await goesOn();
  });

  it('somebody who attaches a layer at that moment: keeps that one too', async () => {
    lambda.beforeChange = () => lambda.meddle((layers) => [...layers, 'arn:aws:lambda:eu-west-1:1:layer:theirs:1']);
    await goesOn();
    expect(await world.attached()).toContain('arn:aws:lambda:eu-west-1:1:layer:theirs:1');
  });

  it('throttles: waits and goes on', async () => {
    lambda.fail('PUT resolver', THROTTLE);
    lambda.fail('GET canary', THROTTLE);
    lambda.fail('POST layers', THROTTLE);
    await goesOn();
  });

  it('a control plane that publishes nothing: leaves the version before', async () => {
    lambda.fail(
      'POST layers',
      ...Array<typeof BROKEN>(6).fill({ status: 400, type: 'InvalidParameterValueException' }),
    );
    await failsWith(/InvalidParameterValue/);
    lambda.fail('POST layers');
    await goesOn();
  });

  it('an archive that Lambda publishes otherwise than it was verified: removes it', async () => {
    lambda.publishedDigest = Buffer.alloc(32).toString('base64');
    await failsWith(/another archive than the verified one/);
    expect(await world.assemble().dependencies.layers.versions()).toHaveLength(1);
    lambda.publishedDigest = undefined;
    await goesOn();
  });

  it('a canary that dies: leaves the version before, and uses what was published the next time', async () => {
    lambda.canary = { payload: { errorType: 'Runtime.ExitError' }, dies: true };
    await failsWith(/Canary failed: .*Runtime\.ExitError/);
    lambda.canary = { payload: { ok: true, version: NEW } };
    const before = [lambda.published(), pages.downloads(ASSET)];
    await goesOn();
    expect([lambda.published(), pages.downloads(ASSET)]).toEqual(before);
  });

  it('a canary that cannot be given the layer: leaves the version before', async () => {
    lambda.endChange('canary', { status: 'Failed', looks: 1 });
    await failsWith(/canary-\w+ did not take its new layers/);
    await goesOn();
  });

  it('a canary that takes its layer without end: waits no longer than it may', async () => {
    lambda.endChange('canary', { status: 'Successful', looks: 100_000 });
    const { canary } = world.assemble().dependencies;
    const began = performance.now();
    await expect(canary.try(world.placeholder, AbortSignal.timeout(200))).rejects.toThrow(/abort/i);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('a pointer that cannot be moved: the resolver gets back what it had, so that both are of one version', async () => {
    const { dependencies: parts, functionLayers } = world.assemble();
    const movePointer = () => Promise.reject(new Error('Access Denied'));
    const resolver = functionLayers(world.environment.RESOLVER_FUNCTION ?? '');
    const failing = { ...parts, resolver, archive: { ...parts.archive, movePointer } };
    await expect(updateTools(failing, new AbortController().signal)).rejects.toThrow('Access Denied');
    expect(world.figures).toEqual(['maintained', 'failed']);
    await isInPlace(OLD);
    await goesOn();
  });

  it('a new release that fails while a deployment has put an old one back: puts back the one in use', async () => {
    lambda.meddle(([one = '', , two = '']) => [one, world.placeholder, two]);
    lambda.canary = { payload: { ok: false, reason: 'broken' } };
    await expect(world.update()).rejects.toThrow(/does not work: broken/);
    await isInPlace(OLD);
  });
});
