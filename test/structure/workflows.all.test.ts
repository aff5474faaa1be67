import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { itWith } from '../support/clients.ts';
import { installPythonPackages } from '../support/python-packages.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';
const EXAMPLE = 'docs/examples/deploy-workflow.yml';
const WORKFLOWS = [...globSync('.github/workflows/*.yml', { cwd: ROOT }), EXAMPLE];

itWith('go')('actionlint has no finding in the workflows', async () => {
  // It ends with 1 for a finding, which the message of the failure has.
  const { stdout } = await run('go', ['run', ACTIONLINT, ...WORKFLOWS], { cwd: ROOT });
  expect(stdout).toBe('');
});

it('zizmor has no finding in the workflows and in the configuration of Dependabot', async () => {
  const python = await installPythonPackages('zizmor', 'zizmor==1.32.0');
  const args = ['--offline', '--quiet', '--color', 'never', '.', EXAMPLE];
  const { stdout } = await run(join(python, '../zizmor'), args, { cwd: ROOT });
  expect(stdout).toMatch(/^No findings to report/);
});

it('workflows pin the actions of others by commit, with the version, and run scripts that exist', () => {
  const texts = WORKFLOWS.map((file) => readFileSync(join(ROOT, file), 'utf8'));
  const actions = texts.flatMap((text) => [...text.matchAll(/uses: ([^.\s]\S*.*)$/gm)].map(([, action]) => action));
  expect(actions.length).toBeGreaterThan(8);
  for (const action of actions) expect(action).toMatch(/^[\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const named = texts.flatMap((text) => [...text.matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, name]) => name));
  const inMatrix = texts.flatMap((text) => JSON.parse(/script: (\[.*\])/.exec(text)?.[1] ?? '[]'));
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining([...named, ...inMatrix]));
});
