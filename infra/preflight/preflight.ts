import { spawnSync } from 'node:child_process';
import { SettingError } from '../../core/config/index.ts';
import { findContainerProblem, isBootstrapped, readDeployedSettings } from '../cli/index.ts';
import { checkPlace, type DeploymentSettings, profileOf } from '../config/index.ts';
import { createAwsRequests } from './aws-requests.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkCloudFront, checkExecutions, checkNames, checkNetworks, checkProcessors } from './quotas.ts';

export interface PreflightOptions {
  readonly settings: DeploymentSettings;
  readonly region: string | undefined;
  /** Profile of the AWS configuration. */
  readonly awsProfile?: string | undefined;
}

/** Answers that are not AWS's own, such as those of a proxy, may be whole pages. */
const MAX_MESSAGE_CHARACTERS = 120;
const messageOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.trim().split(/\r?\n/, 1)[0]?.slice(0, MAX_MESSAGE_CHARACTERS) ?? '';
};
const FIREWALL_REGION = 'us-east-1';
const bucketOf = (account: string, region: string) => `cdk-hnb659fds-assets-${account}-${region}`;

/** What the deployment needs of this machine. */
export function checkMachine(): Finding[] {
  const run = (program: string, args: readonly string[]) => spawnSync(program, args, { encoding: 'utf8' });
  const python = run('python3', ['-m', 'pip', '--version']);
  const pip =
    python.status === 0
      ? ok('Python', 'has pip')
      : problem('Python', 'python3 -m pip does not run: install Python 3 with pip, which downloads FFmpeg');
  const program = process.env.CDK_DOCKER ?? 'docker';
  const trouble = findContainerProblem({ program, run });
  if (trouble) return [pip, problem('image', trouble)];
  const { stdout } = run(program, ['info']);
  const registry = /^\s*Username:/m.test(stdout)
    ? ok('image registry', 'logged in')
    : warning(
        'image registry',
        `Docker Hub limits pulls without a login by address: if the build fails with “toomanyrequests”, run ${program} login, or wait six hours`,
      );
  return [pip, ok('image', `${program} responds`), registry];
}

/** What the deployment needs of the account and region. Changes nothing, and never rejects: what fails is a finding. */
export async function checkAccount({ settings, region, awsProfile }: PreflightOptions): Promise<Finding[]> {
  if (!region) return [problem('region', 'none is set: set AWS_REGION, or region in the AWS profile')];
  const send = createAwsRequests(region, awsProfile);
  const body = 'Action=GetCallerIdentity&Version=2011-06-15';
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  let account: string;
  try {
    const answer = await send({ service: 'sts', region, body, headers });
    account = /<Account>(\d{12})</.exec(answer)?.[1] ?? '';
  } catch (error) {
    const advice = 'set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or renew the login';
    return [problem('account', `no valid AWS credentials (${messageOf(error)}): ${advice}`)];
  }
  try {
    checkPlace(settings, { account, region });
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    return [ok('account', account), problem('region', error.message)];
  }
  const profile = profileOf(settings);
  const stackName = `reelay-${settings.stage}`;
  const deployed = await readDeployedSettings(stackName, region, awsProfile).catch(() => undefined);
  const isDeployed = deployed?.isComplete === true;
  const common = { send, region, awsProfile, profile };
  const places = [...new Set([region, ...(profile.firewall ? [FIREWALL_REGION] : [])])];
  const checks: [subject: string, check: () => Promise<Finding | Finding[]>][] = [
    ...places.map((each): [string, () => Promise<Finding>] => [
      'bootstrap',
      () => checkBootstrap(account, each, awsProfile),
    ]),
    ['Lambda executions', () => checkExecutions({ ...common, isDeployed })],
    ['CloudFront', () => checkCloudFront({ ...common, isDeployed })],
    ['names', () => checkNames({ ...common, isDeployed }, `${stackName}-${region}`)],
    ['VPCs', () => checkNetworks({ ...common, isDeployed })],
    ['Fargate vCPUs', () => checkProcessors({ ...common, isDeployed })],
  ];
  const found = await Promise.all(
    checks.map(([subject, check]) =>
      check().catch((error: unknown) => warning(subject, `could not be checked: ${messageOf(error)}`)),
    ),
  );
  return [ok('account', account), ok('region', region), ...found.flat()];
}

async function checkBootstrap(account: string, region: string, awsProfile: string | undefined): Promise<Finding> {
  const isThere = await isBootstrapped({ account, region, bucket: bucketOf(account, region) }, awsProfile);
  return ok('bootstrap', isThere ? `${region} is bootstrapped for CDK` : `npm run deploy bootstraps ${region} for CDK`);
}
