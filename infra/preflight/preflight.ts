import { spawnSync } from 'node:child_process';
import { SettingError } from '../../core/config/index.ts';
import { askCostGuard, findContainerProblem, readDeployedSettings } from '../cli/index.ts';
import { checkPlace, type DeploymentSettings, profileOf } from '../config/index.ts';
import { AwsRefusal, createAwsRequests } from './aws-requests.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { checkCloudFront, checkExecutions, checkNames, checkNetworks, checkProcessors } from './quotas.ts';

export interface PreflightOptions {
  readonly settings: DeploymentSettings;
  readonly region: string | undefined;
  /** Profile of the AWS configuration. */
  readonly awsProfile?: string | undefined;
  /** Of CDK's bootstrap. @default CDK's */
  readonly qualifier?: string | undefined;
}

/** Answers that are not AWS's own, such as those of a proxy, may be whole pages. */
const MAX_MESSAGE_CHARACTERS = 120;
const messageOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.trim().split(/\r?\n/, 1)[0]?.slice(0, MAX_MESSAGE_CHARACTERS) ?? '';
};
const FIREWALL_REGION = 'us-east-1';
const DEFAULT_QUALIFIER = 'hnb659fds';
/** The least that the rule `CheckBootstrapVersion` of the stacks admits. */
const MIN_BOOTSTRAP_VERSION = 6;

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
export async function checkAccount({ settings, region, awsProfile, qualifier }: PreflightOptions): Promise<Finding[]> {
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
      () => checkBootstrap({ region: each, qualifier }, awsProfile),
    ]),
    ['spending', () => checkSpending(stackName, region, awsProfile)],
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

/** A deployment while the guard keeps the resolver closed cannot try its new version. */
async function checkSpending(stackName: string, region: string, awsProfile: string | undefined): Promise<Finding> {
  const subject = 'spending';
  const report = await askCostGuard(stackName, region, { awsProfile });
  if (!report?.closedUntil) return ok(subject, 'open');
  return problem(
    subject,
    `the cost guard keeps it closed until ${report.closedUntil}: wait, or npm run infra -- reopen`,
  );
}

interface BootstrapPlace {
  readonly region: string;
  /** @default CDK's */
  readonly qualifier?: string | undefined;
}

async function checkBootstrap(place: BootstrapPlace, awsProfile: string | undefined): Promise<Finding> {
  const { region } = place;
  const isThere = await isBootstrapped(place, awsProfile);
  return ok('bootstrap', isThere ? `${region} is bootstrapped for CDK` : `npm run deploy bootstraps ${region} for CDK`);
}

/**
 * Whether CDK's bootstrap of that qualifier is there, in a version that the stacks can use.
 * @throws Error when AWS gives no clear answer
 */
export async function isBootstrapped(
  { region, qualifier = DEFAULT_QUALIFIER }: BootstrapPlace,
  awsProfile?: string,
): Promise<boolean> {
  const send = createAwsRequests(region, awsProfile);
  const body = JSON.stringify({ Name: `/cdk-bootstrap/${qualifier}/version` });
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': 'AmazonSSM.GetParameter' };
  try {
    const { Parameter } = JSON.parse(await send({ service: 'ssm', region, body, headers }));
    return Number(Parameter.Value) >= MIN_BOOTSTRAP_VERSION;
  } catch (error) {
    if (error instanceof AwsRefusal && error.answer.includes('ParameterNotFound')) return false;
    throw error;
  }
}
