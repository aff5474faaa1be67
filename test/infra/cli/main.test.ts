import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { planCommand } from '../../../infra/cli/cli-plan.ts';
import { NODE_ENVIRONMENT } from '../../support/node-environment.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CDK = join(ROOT, 'node_modules', 'aws-cdk', 'bin', 'cdk');

const dir = await temporaryFolder();

/** Output and exit code of the command. A bundle would be built in `dir`. */
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  new Promise<[code: unknown, seen: string]>((resolve) => {
    const options = { cwd: ROOT, env: { ...NODE_ENVIRONMENT, TMPDIR: dir, ...env } };
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

  // The CDK CLI ignores options that it does not know.
  it.each(['diff', 'deploy', 'destroy'])('passes only options of the CDK CLI for %s', async (command) => {
    const plan = planCommand(command, ['--profile', 'work'], { app: 'app', assembly: 'out' });
    const { stdout } = await promisify(execFile)(process.execPath, [CDK, command, '--help'], { env: NODE_ENVIRONMENT });
    const known = [...stdout.matchAll(/--[a-z][\w-]*/g)].map(([option]) => option);
    const passed = plan?.run?.filter((arg) => arg.startsWith('--')) ?? [];
    expect(passed).toContain('--app');
    expect(passed.filter((option) => !known.includes(option))).toEqual([]);
  });

  it.each([[[]], [['deplyo']]])('prints its usage for %j', async (args) => {
    expect(await run(args)).toEqual([
      2,
      expect.stringMatching(/^Use: npm run infra -- synth\|preflight\|deploy\|diff\|destroy\|reopen .*\n$/),
    ]);
  });
});
