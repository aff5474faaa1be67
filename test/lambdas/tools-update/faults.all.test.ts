import { beforeEach, describe, expect, it } from 'vitest';
import { provideTools, updateTools } from '../../../lambdas/tools-update/update-tools.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { zip } from '../../yt-dlp-worker/zip.ts';
import { type FakeLambda, startFakeLambda } from './fake-lambda.ts';
import { ASSET, createFixture, type ToolsUpdateFixture, useReleases } from './fixture.ts';

/** Failures that moto cannot simulate: a fake Lambda beside moto's S3 and DynamoDB. */
const [OLD, NEW] = ['2026.11.01', '2026.11.20'];
const { moto, pages, root } = await useReleases();

let lambda: FakeLambda;
let fixture: ToolsUpdateFixture;
const release = async (version: string) => {
  await pages.publish(version, ASSET, await zip(root, [['yt-dlp_linux', version]]));
  lambda.canary = { payload: { ok: true, version } };
};
beforeEach(async () => {
  await moto.reset();
  lambda = closeAfterwards(await startFakeLambda(moto.endpoint));
  fixture = await createFixture({ endpoint: moto.endpoint, lambdaEndpoint: lambda.endpoint, pages });
  await release(OLD);
  await fixture.update();
  await release(NEW);
  fixture.figures.length = 0;
  fixture.steps.length = 0;
});

const versionOf = async (arns: readonly string[]) => {
  const versions = await fixture.assemble().layers.versions();
  return versions.filter(({ arn }) => arns.includes(arn)).map(({ description }) => description.split(' ')[1]);
};
/** Asserts the invariants that hold after every run. */
const isInPlace = async (version: string) => {
  expect(await versionOf(lambda.effective())).toEqual([version]);
  expect(await versionOf(await fixture.attached())).toEqual([version]);
  expect((await fixture.pointer())?.version).toBe(version);
  expect((await fixture.state.getTools())?.ytDlp).toBe(version);
  expect(await fixture.state.getMaintenance()).toBeUndefined();
  expect(await fixture.attached()).toEqual(expect.arrayContaining([...fixture.others]));
};
const failsWith = async (reason: RegExp) => {
  await expect(fixture.update()).rejects.toThrow(reason);
  expect(fixture.figures.at(-1)).toBe('failed');
  await isInPlace(OLD);
};
const goesOn = async () => {
  expect(await fixture.update()).toEqual({ outcome: 'updated', version: NEW });
  await isInPlace(NEW);
};
const CONFLICT = { status: 409, type: 'ResourceConflictException' };
const THROTTLE = { status: 429, type: 'TooManyRequestsException' };
const BROKEN = { status: 500, type: 'ServiceException' };

describe('updateTools with failures of AWS', () => {
  it('restores the former layers when attaching does not take effect, and the next run completes', async () => {
    lambda.endChange('resolver', { status: 'Failed', looks: 2 });
    await failsWith(/did not take its new layers: The layer cannot be mounted/);
    await goesOn();
  });

  it('keeps the previous version when the alias cannot be moved', async () => {
    const broken = { status: 400, type: 'InvalidParameterValueException' };
    lambda.fail('PUT resolver alias', broken);
    await failsWith(/InvalidParameterValue/);
    await goesOn();
  });

  it('reports both failures when the alias cannot be moved back either', async () => {
    const parts = fixture.assemble();
    const movePointer = () => {
      lambda.fail('PUT resolver alias', { status: 400, type: 'InvalidParameterValueException' });
      return Promise.reject(new Error('Access Denied'));
    };
    const failing = { ...parts, archive: { ...parts.archive, movePointer } };
    await expect(updateTools(failing, new AbortController().signal)).rejects.toThrow(
      /Access Denied.*former version was not restored/,
    );
    await goesOn();
  });

  it('keeps the previous version when the new one of the resolver does not work', async () => {
    lambda.check = { payload: { ok: false, reason: 'the worker does not start' } };
    await failsWith(/The resolver does not work with yt-dlp 2026\.11\.20: the worker does not start/);
    lambda.check = undefined;
    await goesOn();
  });

  it('deploys, rolls back and updates untried while the cost guard keeps the resolver closed', async () => {
    lambda.throttledBy = 'ReservedFunctionConcurrentInvocationLimitExceeded';
    for (const _ of ['update', 'rollback']) await provideTools(fixture.assemble(), new AbortController().signal);
    await isInPlace(NEW);
    await release('2026.11.25');
    expect(await fixture.update()).toEqual({ outcome: 'updated', version: '2026.11.25' });
    await isInPlace('2026.11.25');
  });

  it('keeps the previous version while the account has no execution free', async () => {
    lambda.throttledBy = 'ConcurrentInvocationLimitExceeded';
    await failsWith(/TooManyRequests/);
    lambda.throttledBy = undefined;
    await goesOn();
  });

  it('moves the pointer only after a slow update of the resolver', async () => {
    lambda.endChange('resolver', { status: 'Successful', looks: 6 });
    await goesOn();
  });

  it('retries conflicts', async () => {
    lambda.fail('PUT resolver', CONFLICT, CONFLICT);
    lambda.fail('PUT canary', CONFLICT);
    await goesOn();
  });

  it('keeps the former version after persistent conflicts', async () => {
    lambda.fail('PUT resolver', ...Array<typeof CONFLICT>(5).fill(CONFLICT));
    await failsWith(/ResourceConflict/);
    await goesOn();
  });

  it('keeps a layer that is attached concurrently', async () => {
    lambda.beforeChange = () => lambda.meddle((layers) => [...layers, 'arn:aws:lambda:eu-west-1:1:layer:theirs:1']);
    await goesOn();
    expect(await fixture.attached()).toContain('arn:aws:lambda:eu-west-1:1:layer:theirs:1');
  });

  it('retries throttled requests', async () => {
    lambda.fail('PUT resolver', THROTTLE);
    lambda.fail('GET canary', THROTTLE);
    lambda.fail('POST layers', THROTTLE);
    await goesOn();
  });

  it('keeps the former version when publishing fails', async () => {
    lambda.fail(
      'POST layers',
      ...Array<typeof BROKEN>(6).fill({ status: 400, type: 'InvalidParameterValueException' }),
    );
    await failsWith(/InvalidParameterValue/);
    lambda.fail('POST layers');
    await goesOn();
  });

  it('removes a published version whose CodeSha256 differs from the verified archive', async () => {
    lambda.publishedDigest = Buffer.alloc(32).toString('base64');
    await failsWith(/another archive than the verified one/);
    expect(await fixture.assemble().layers.versions()).toHaveLength(1);
    lambda.publishedDigest = undefined;
    await goesOn();
  });

  it('keeps the former version when the canary crashes, and reuses the published version in the next run', async () => {
    lambda.canary = { payload: { errorType: 'Runtime.ExitError' }, dies: true };
    await failsWith(/Canary failed: .*Runtime\.ExitError/);
    lambda.canary = { payload: { ok: true, version: NEW } };
    const before = [lambda.published(), pages.downloads(ASSET)];
    await goesOn();
    expect([lambda.published(), pages.downloads(ASSET)]).toEqual(before);
  });

  it('keeps the former version when the layer cannot be attached to the canary', async () => {
    lambda.endChange('canary', { status: 'Failed', looks: 1 });
    await failsWith(/canary-\w+ did not take its new layers/);
    await goesOn();
  });

  it('times out when the update of the canary does not complete', async () => {
    lambda.endChange('canary', { status: 'Successful', looks: 100_000 });
    const { canary } = fixture.assemble();
    await expect(canary(fixture.others[0], AbortSignal.timeout(200))).rejects.toThrow(/abort/i);
  });

  it('restores the previous version of the resolver when the pointer cannot be moved', async () => {
    const parts = fixture.assemble();
    const movePointer = () => Promise.reject(new Error('Access Denied'));
    const failing = { ...parts, archive: { ...parts.archive, movePointer } };
    await expect(updateTools(failing, new AbortController().signal)).rejects.toThrow('Access Denied');
    expect(fixture.figures).toEqual(['maintained', 'failed']);
    await isInPlace(OLD);
    await goesOn();
  });

  it('restores the release in use when a new one fails after a deployment had deployed an old one', async () => {
    const { resolver } = fixture.assemble();
    await resolver.switchTo(await resolver.publish(() => [...fixture.others], new AbortController().signal));
    lambda.check = { payload: { ok: true, version: OLD } };
    lambda.canary = { payload: { ok: false, reason: 'broken' } };
    await expect(fixture.update()).rejects.toThrow(/does not work: broken/);
    await isInPlace(OLD);
  });
});

describe('provisioned concurrency', () => {
  /** One deployment that wants as many environments. */
  const deploy = (provisioned: number) => {
    Object.assign(fixture.environment, { RESOLVER_PROVISIONED: String(provisioned) });
    return provideTools(fixture.assemble(), new AbortController().signal);
  };

  it('is what the last deployment wants, and survives updates', async () => {
    await deploy(0);
    expect(lambda.provisioned).toBeUndefined();
    await deploy(4);
    expect(lambda.provisioned).toBe(4);
    await deploy(2);
    await release('2026.11.21');
    await fixture.update();
    expect(lambda.provisioned).toBe(2);
    await deploy(0);
    expect(lambda.provisioned).toBeUndefined();
  });

  it('fails the deployment when Lambda refuses it', async () => {
    lambda.fail('PUT resolver provisioned', { status: 400, type: 'InvalidParameterValueException' });
    await expect(deploy(900)).rejects.toThrow(/InvalidParameterValue/);
    await isInPlace(NEW);
  });
});
