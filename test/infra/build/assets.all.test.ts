import { execFile } from 'node:child_process';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildAssets, buildPage, bundle, placeFfmpeg } from '../../../infra/build/index.ts';
import { temporaryFolder } from '../synth.ts';

const ROOT = join(import.meta.dirname, '../../..');
afterEach(() => vi.unstubAllEnvs());

const changedAt = (path: string) =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );

it('builds what is deployed once from the same sources, and again without a part', async () => {
  const outDir = temporaryFolder();
  const build = async () => {
    await buildAssets({ outDir });
    return changedAt(join(outDir, 'functions/wake/index.mjs'));
  };
  const first = await build();
  expect([first, await build()]).toEqual([expect.any(Number), first]);
  await rm(join(outDir, 'web'), { recursive: true });
  expect(await build()).not.toBe(first);
  expect(await changedAt(join(outDir, 'web/index.html'))).toBeDefined();
});

describe('the image of the stream service', () => {
  /** Runs the command that fetches FFmpeg. @returns the folder that has it then */
  async function fetchFfmpeg(processor: string, change = (requirement: string) => requirement): Promise<string> {
    const folder = temporaryFolder();
    await bundle({ outDir: folder, only: ['stream-service'] });
    const context = join(folder, 'stream-service');
    const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
    const [, command = ''] = /^COPY ffmpeg\.txt \.\/\nRUN ((?:.*\\\n)*.*)$/m.exec(dockerfile) ?? [];
    const requirement = await readFile(join(context, 'ffmpeg.txt'), 'utf8');
    await writeFile(join(context, 'ffmpeg.txt'), change(requirement));
    const env = { ...process.env, TARGETARCH: processor };
    await promisify(execFile)('sh', ['-ec', command], { cwd: context, env });
    return context;
  }

  it.each([
    ['amd64', 'x86_64'],
    ['arm64', 'arm64'],
  ] as const)('has the pinned FFmpeg for %s', async (processor, architecture) => {
    const pinned = temporaryFolder();
    await placeFfmpeg({ dir: pinned, architecture });
    const folders = [await fetchFfmpeg(processor), pinned];
    const [fetched, expected] = await Promise.all(folders.map((folder) => readFile(join(folder, 'ffmpeg'))));
    expect(fetched?.equals(expected as Buffer)).toBe(true);
  });

  it('is not built with an FFmpeg of another hash', async () => {
    const build = fetchFfmpeg('amd64', (requirement) => requirement.replaceAll(/[0-9a-f]{64}/g, '0'.repeat(64)));
    await expect(build).rejects.toThrow(/HASHES|hashes/);
  });
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
