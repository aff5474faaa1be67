import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it, vi } from 'vitest';
import { buildAssets, buildPage } from '../../../infra/build/index.ts';
import { temporaryFolder } from '../synth.ts';

const ROOT = join(import.meta.dirname, '../../..');
afterEach(() => vi.unstubAllEnvs());

const changedAt = (path: string) =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

it('builds what is deployed once from the same sources, and again for another processor or without a part', async () => {
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

it('builds the same page whatever NODE_ENV is', async () => {
  const pages = [];
  for (const environment of ['development', 'production']) {
    const outDir = temporaryFolder();
    vi.stubEnv('NODE_ENV', environment);
    await buildPage(outDir);
    expect(process.env.NODE_ENV).toBe(environment);
    // Names contain digests of the content.
    pages.push((await readdir(join(outDir, 'assets'))).sort());
  }
  expect(pages[0]).toEqual(pages[1]);
});

it('builds nothing to list the stacks, and leaves templates that CloudFormation refuses', async () => {
  const built = () => changedAt(join(ROOT, 'dist/deployment'));
  const before = await built();
  const output = temporaryFolder();
  const args = ['node_modules/aws-cdk/bin/cdk', 'list', '--output', output, '--context', 'profile=hobby'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  expect(stdout).toBe('reelay-main\n');
  expect(await built()).toEqual(before);
  const { Rules } = JSON.parse(await readFile(join(output, 'reelay-main.template.json'), 'utf8'));
  const [refusal] = Rules.NotBuilt.Assertions;
  expect(refusal.Assert).toEqual({ 'Fn::Equals': ['placeholders', 'assets'] });
  expect(refusal.AssertDescription).toMatch(/run cdk synth/);
});
