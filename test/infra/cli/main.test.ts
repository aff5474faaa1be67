import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'reelay-cli-'));
});
afterEach(() => rm(dir, { recursive: true }));

/** Output and exit code of the command. A bundle would be built in `dir`. */
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  new Promise<[code: unknown, seen: string]>((resolve) => {
    const options = { cwd: ROOT, env: { PATH: process.env.PATH, TMPDIR: dir, ...env } };
    execFile(process.execPath, ['infra/cli/main.ts', ...args], options, (error, stdout, stderr) =>
      resolve([error?.code ?? 0, stdout + stderr]),
    );
  });

describe('deployment command', () => {
  it.each([
    ['is not installed', '/nowhere/docker', 'is not installed'],
    ['does not run', 'false', 'does not run'],
  ])('fails before the build when the container program %s', async (_, program, trouble) => {
    const [code, seen] = await run(['deploy'], { CDK_DOCKER: program });
    expect(seen).toBe(
      `The stream service is deployed as an image, and ${program} ${trouble}: start it, or set CDK_DOCKER to finch or podman\n`,
    );
    expect(code).toBe(2);
  });

  it('needs no container program to deploy the stream service to Lambda', async () => {
    const settings = ['-c', 'profile=hobby', '-c', 'streamHost=lambda', '-c', 'stage=-'];
    const [code, seen] = await run(['deploy', '--yes', ...settings], { CDK_DOCKER: '/nowhere/docker' });
    // The synthesis, which follows, rejects the stage before it builds anything.
    expect(seen).toMatch(/^stage must /m);
    expect(code).not.toBe(0);
  });

  it.each([[[]], [['deplyo']]])('prints its usage for %j', async (args) => {
    expect(await run(args)).toEqual([2, expect.stringMatching(/^Use: npm run synth\|deploy\|diff\|destroy .*\n$/)]);
  });
});
