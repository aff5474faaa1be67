import { execFile } from 'node:child_process';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { buildAssets } from '../../../infra/build/index.ts';
import { temporaryFolder } from '../synth.ts';

const ROOT = join(import.meta.dirname, '../../..');
const changedAt = (path: string) =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

it('builds what is deployed once from the same sources, and again for another processor or without the page', async () => {
  const outDir = temporaryFolder();
  const program = join(outDir, 'functions/wake/index.mjs');
  const build = async (architecture: 'arm64' | 'x86_64') => {
    await buildAssets({ outDir, architecture });
    return changedAt(program);
  };
  const first = await build('arm64');
  expect(await changedAt(join(outDir, 'stream-service/ffmpeg'))).toBeDefined();
  expect([first, await build('arm64')]).toEqual([expect.any(Number), first]);
  const second = await build('x86_64');
  expect(second).not.toBe(first);
  await rm(join(outDir, 'web'), { recursive: true });
  expect(await build('x86_64')).not.toBe(second);
  expect(await changedAt(join(outDir, 'web/index.html'))).toBeDefined();
});

it('builds nothing to list the stacks', async () => {
  const built = () =>
    Promise.all(['functions', 'stream-service', 'web'].map((name) => changedAt(join(ROOT, 'dist', name))));
  const before = await built();
  const args = ['node_modules/aws-cdk/bin/cdk', 'list', '--output', temporaryFolder(), '--context', 'profile=hobby'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  expect(stdout).toBe('reelay-main\n');
  expect(await built()).toEqual(before);
});
