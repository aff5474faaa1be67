import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CreateFunctionCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { silentLog } from '../../../core/log/index.ts';
import { createToolsUpdate } from '../../../lambdas/tools-update/create-tools-update.ts';
import { updateTools } from '../../../lambdas/tools-update/update-tools.ts';
import { createReleases } from '../../../packages/yt-dlp-worker/src/yt-dlp/releases.ts';
import { bundleProgram } from '../../support/bundle-program.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { ensureTable } from '../../support/dynamodb.ts';
import { FUNCTION_ROLE, REGION, useMoto } from '../../support/moto.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startReleasePages } from '../../yt-dlp-worker/release-pages.ts';
import { zip } from '../../yt-dlp-worker/zip.ts';
import { createPatientState, createPatientTableClient } from './patient-state.ts';

const [OLD, NEW] = ['2026.11.01', '2026.11.20'];
const moto = useMoto();
const child = await bundleProgram(resolve(import.meta.dirname, 'killed-update.ts'));

/** One cell of `steps.all.test.ts` with a process that is killed, AWS's APIs over HTTP, and signed releases. */
it('an update whose process is killed after "pointed" is available by itself, and completed by the next one', async () => {
  const pages = closeAfterwards(await startReleasePages());
  const root = await temporaryFolder();
  const keyFile = join(root, 'key.asc');
  await writeFile(keyFile, pages.key);
  Object.assign(process.env, {
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_ENDPOINT_URL: moto.endpoint,
  });
  const names = {
    TABLE_NAME: 'table',
    TOOLS_BUCKET: 'tools',
    CANARY_FUNCTION: 'canary',
    RESOLVER_FUNCTION: 'resolver',
  };
  await new S3Client().send(
    new CreateBucketCommand({ Bucket: 'tools', CreateBucketConfiguration: { LocationConstraint: REGION } }),
  );
  await ensureTable(createPatientTableClient(), names.TABLE_NAME);
  for (const FunctionName of ['canary', 'resolver']) {
    const code = { Code: { ZipFile: Buffer.from('code') }, Handler: 'index.handler', Runtime: 'nodejs24.x' } as const;
    await new LambdaClient().send(new CreateFunctionCommand({ FunctionName, ...code, Role: FUNCTION_ROLE }));
  }
  const environment = { ...names, LAYER_NAME: 'layer', STAGE: 'test', TOOLS_CHANNEL: 'stable', ARCHITECTURE: 'x86_64' };
  const state = createPatientState(names.TABLE_NAME);
  const egress = createEgress({ allow: [pages.host] });
  const none = () => undefined;
  const parts = {
    ...createToolsUpdate(environment, {
      metrics: { updateFailed: none, missing: none, maintained: none, age: none },
      log: silentLog,
      releases: createReleases({ channel: 'stable', url: pages.url, key: pages.key, download: egress.request }),
      pollIntervalSeconds: 0.01,
      leaseSeconds: 1,
    }),
    state,
  };
  /** A release that canary and resolver report to work. */
  const release = async (version: string) => {
    await pages.publish(version, 'yt-dlp_linux.zip', await zip(root, [['yt-dlp_linux', version]]));
    await moto.answerInvocations(...Array<string>(2).fill(JSON.stringify({ ok: true, version })));
  };
  const update = () => updateTools(parts, new AbortController().signal);
  const inUse = async () => {
    const [{ layers }, pointer, tools] = await Promise.all([
      parts.resolver.read(),
      parts.archive.pointer(),
      state.getTools(),
    ]);
    return {
      pointer: pointer?.version,
      isAttached: layers.includes(pointer?.layerVersionArn ?? ''),
      tools: tools?.ytDlp,
    };
  };

  await release(OLD);
  await update();
  await release(NEW);
  const killed = spawn(process.execPath, [child, 'pointed', pages.url, keyFile], {
    env: { ...process.env, ...environment, TMPDIR: root, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect((await once(killed, 'exit'))[1]).toBe('SIGKILL');
  expect(await inUse()).toEqual({ pointer: NEW, isAttached: true, tools: OLD });
  await expect.poll(() => state.getMaintenance()).toBeUndefined();

  await expect.poll(async () => (await update()).outcome).toBe('current');
  expect(await inUse()).toEqual({ pointer: NEW, isAttached: true, tools: NEW });
  expect([(await parts.layers.versions()).length, (await parts.archive.keys()).length]).toEqual([2, 2]);
});
