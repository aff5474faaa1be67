import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
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

describe('the role by which a workflow deploys', () => {
  const ROLE = join(import.meta.dirname, '../../docs/examples/deploy-role.yml');
  const DECODE = 'import cfnlint.decode, json, sys; print(json.dumps(cfnlint.decode.decode(sys.argv[1])[0]))';
  const python = () => installPythonPackages('cfn-lint', 'cfn-lint==1.58.0');
  /** Without the signs by which placeholders of CloudFormation would look like those of a template string. */
  const read = (json: string): Template => JSON.parse(json.replaceAll('${', '{'));

  it('passes cfn-lint', async () => {
    const { stdout } = await promisify(execFile)(await python(), ['-c', CFN_LINT, '--', ROLE]);
    expect(stdout).toBe('');
  });

  it('is that of one environment of one repository, and may assume the roles of CDK’s bootstrap alone', async () => {
    const { stdout } = await promisify(execFile)(await python(), ['-c', DECODE, ROLE]);
    const { AssumeRolePolicyDocument: trust, Policies } = onlyResource(read(stdout), 'AWS::IAM::Role') as never as {
      AssumeRolePolicyDocument: { Statement: { Condition: unknown }[] };
      Policies: { PolicyDocument: { Statement: unknown } }[];
    };
    const issuer = 'token.actions.githubusercontent.com';
    expect(trust.Statement.map(({ Condition }) => Condition)).toEqual([
      {
        StringEquals: {
          [`${issuer}:aud`]: 'sts.amazonaws.com',
          [`${issuer}:sub`]: { 'Fn::Sub': 'repo:{Repository}:environment:{Environment}' },
        },
      },
    ]);
    const roles = 'arn:{AWS::Partition}:iam::{AWS::AccountId}:role/cdk-{Qualifier}-*-role-{AWS::AccountId}-*';
    expect(Policies.map(({ PolicyDocument }) => PolicyDocument.Statement)).toEqual([
      [{ Effect: 'Allow', Action: 'sts:AssumeRole', Resource: { 'Fn::Sub': roles } }],
    ]);
  });
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
