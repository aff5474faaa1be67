import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { createApp } from '../../infra/create-app.ts';
import { installPythonPackages } from '../support/python-packages.ts';
import { regional, regionless } from './deployments.ts';
import { flags, placeholderBundle, synthesize, temporaryFolder, VIRGINIA } from './synth.ts';

it('synthesizes one tree to identical stacks', async () => {
  const { templates } = await synthesize({ profile: 'public' }, VIRGINIA);
  const folder = temporaryFolder();
  const { stacks } = createApp({
    bundleDir: placeholderBundle(join(folder, 'bundle')),
    context: { ...flags, profile: 'public' },
    outdir: join(folder, 'out'),
    env: VIRGINIA,
  }).synth();
  expect(Object.fromEntries(stacks.map(({ stackName, template }) => [stackName, template]))).toEqual(templates);
});

it('passes cfn-lint', { timeout: 180_000 }, async () => {
  const python = await installPythonPackages('cfn-lint', 'cfn-lint==1.58.0');
  const folder = temporaryFolder();
  const templates = [regionless, regional].flatMap((deployments) =>
    Object.values(deployments).flatMap(({ templates }) => Object.values(templates)),
  );
  const files = templates.map((of, index) => {
    const file = join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify(of));
    return file;
  });
  // W3005: a DependsOn besides a reference, as CDK writes it for construct dependencies.
  const args = ['--ignore-checks', 'W3005', '--', ...files];
  const { stdout } = await promisify(execFile)(join(dirname(python), 'cfn-lint'), args).catch(({ stdout, stderr }) => ({
    stdout: stdout + stderr,
  }));
  expect(stdout).toBe('');
});
