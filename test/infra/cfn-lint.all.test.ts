import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { installPythonPackages } from '../support/python-packages.ts';
import { NAMED_IMAGE } from './deployment-settings.ts';
import { regional, regionless } from './deployments.ts';
import type { Template } from './permissions.ts';
import { mainTemplate, temporaryFolder } from './synth.ts';
import { onlyResource, resourcesOfType } from './template.ts';

/** Looking for garbage less often saves a sixth of its time. */
const CFN_LINT = 'import gc, sys; gc.set_threshold(200_000); from cfnlint.runner import main; sys.exit(main())';

it('passes cfn-lint', { timeout: 600_000 }, async () => {
  const python = await installPythonPackages('cfn-lint', 'cfn-lint==1.58.0');
  const folder = temporaryFolder();
  const templates = [
    ...[regionless, regional].flatMap((deployments) =>
      Object.values(deployments).flatMap(({ templates }) => Object.values(templates)),
    ),
    await mainTemplate('hobby built in the account'),
  ];
  const files = templates.map((of, index) => {
    const file = join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify(of));
    return file;
  });
  // W3005: a DependsOn besides a reference, as CDK writes it for construct dependencies.
  const args = ['-c', CFN_LINT, '--ignore-checks', 'W3005', '--', ...files];
  const { stdout } = await promisify(execFile)(python, args).catch(({ stdout, stderr }) => ({
    stdout: stdout + stderr,
  }));
  expect(stdout).toBe('');
});

it('takes the image of the stream task from the account that builds it, or by its name', async () => {
  const built = await mainTemplate('hobby built in the account');
  const { Environment } = onlyResource(built, 'AWS::CodeBuild::Project');
  expect(Environment).toMatchObject({ Type: 'ARM_CONTAINER', PrivilegedMode: true });
  expect(imageOf(built)).toMatch(/ImageRepository.*ImageTag/);
  expect(onlyResource(built, 'Custom::CDKContainerImageBuild').buildCommand).toContain('linux/arm64');

  const named = await mainTemplate('team of a named image');
  expect(imageOf(named)).toBe(JSON.stringify(NAMED_IMAGE));
  expect(resourcesOfType(named, 'AWS::CodeBuild::Project')).toEqual([]);
});

function imageOf(of: Template): string {
  const [container] = onlyResource(of, 'AWS::ECS::TaskDefinition').ContainerDefinitions as never as {
    Image: unknown;
  }[];
  return JSON.stringify(container?.Image);
}
