import { spawnSync } from 'node:child_process';
import { DescribeVpcAttributeCommand, DescribeVpcsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  paginateListAWSDefaultServiceQuotas,
  paginateListServiceQuotas,
  type ServiceQuota,
  ServiceQuotasClient,
} from '@aws-sdk/client-service-quotas';
import { SettingError } from '../../core/config/index.ts';
import type { Finding } from '../../core/findings/index.ts';
import { profileOf } from '../profiles.ts';
import { CLOUDFRONT_REGION, checkTarget, type DeploymentSettings, stackNameOf } from '../settings.ts';
import { type AwsTarget, findStack, invokeCostGuard, isBootstrapped } from './deployed-stack.ts';

type Answer = readonly [severity: Finding['severity'], text: string];

interface PreflightOptions extends Partial<AwsTarget> {
  readonly settings: DeploymentSettings;
  /** Of CDK's bootstrap. @default CDK's */
  readonly qualifier?: string | undefined;
  /** Id of the network that an app of one's own gives to the construct. @default none */
  readonly vpc?: string | undefined;
}

/** Answers that are not AWS's own, such as those of a proxy, may be whole pages. */
const MAX_MESSAGE_CHARACTERS = 120;
/** Lambda leaves no fewer to all functions without a reservation. */
const MIN_UNRESERVED_EXECUTIONS = 100;
/** What Lambda gives to accounts that are not new. */
const USUAL_EXECUTIONS = 1000;
/** Networks of a region, unless the account has more. */
const USUAL_NETWORKS = 5;
/** CPU units of Fargate. */
const UNITS_PER_VCPU = 1024;

/** Where a deployment has stacks. */
export const regionsOf = (settings: DeploymentSettings, region: string): string[] => [
  ...new Set([region, ...(profileOf(settings).firewall ? [CLOUDFRONT_REGION] : [])]),
];

/** What the deployment needs of this machine. */
export function checkMachine({ streamImage }: DeploymentSettings): Finding[] {
  if (streamImage !== 'docker') return [];
  const program = process.env.CDK_DOCKER ?? 'docker';
  const { status, error } = spawnSync(program, ['info']);
  if (status === 0) return [{ subject: 'image', severity: 'ok', text: `${program} responds` }];
  const trouble = error ? 'is not installed' : 'does not run';
  const advice =
    'it builds the image of the stream service. Start it, set CDK_DOCKER to finch or podman, or let the account build the image: -c streamImage=codebuild';
  return [{ subject: 'image', severity: 'problem', text: `${program} ${trouble}: ${advice}` }];
}

/** What the deployment needs of the account and region. Changes nothing; what fails is a finding. @throws SettingError for settings that no profile permits */
export async function checkAccount(options: PreflightOptions): Promise<Finding[]> {
  const { settings, region, profile, qualifier, vpc } = options;
  const stop = (subject: string, text: string): Finding[] => [{ subject, severity: 'problem', text }];
  if (!region) return stop('region', 'none is set: set AWS_REGION, or region in the AWS profile');
  const target = { region, profile, stackName: stackNameOf(settings) };
  let isDeployed = false;
  try {
    checkTarget(settings, { region });
    isDeployed = (await findStack(target))?.isComplete ?? false;
  } catch (error) {
    if (error instanceof SettingError) return stop('region', error.message);
    const advice = 'set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or renew the login';
    if ((error as Error).name !== 'AccessDenied')
      return stop('account', `AWS accepts no request (${messageOf(error)}): ${advice}`);
  }
  const { resolverConcurrency = 0, entriesAtOnce, ...sizes } = profileOf(settings);
  const raise = (service: string, code: string, to: number) =>
    `raise it with aws service-quotas request-service-quota-increase --region ${region} --service-code ${service} --quota-code ${code} --desired-value ${to}`;
  const checks: Readonly<Record<string, () => Promise<Answer>>> = {
    ...Object.fromEntries(
      regionsOf(settings, region).map((each) => [
        `bootstrap in ${each}`,
        async () => [
          'ok',
          (await isBootstrapped({ ...target, region: each }, qualifier)) ? 'done' : 'npm run deploy does it',
        ],
      ]),
    ),
    // A deployment while the guard keeps the resolver closed cannot try its new version.
    spending: async () => {
      const until = (await invokeCostGuard(target))?.closedUntil;
      return until
        ? ['problem', `the cost guard keeps it closed until ${until}: wait, or npm run infra -- reopen`]
        : ['ok', 'open'];
    },
    // A new account may have ten.
    'Lambda executions': async () => {
      const { AccountLimit = {} } = await new LambdaClient(target).send(new GetAccountSettingsCommand({}));
      const { ConcurrentExecutions: total = 0, UnreservedConcurrentExecutions: unreserved = total } = AccountLimit;
      const advice = raise('lambda', 'L-B99A9384', USUAL_EXECUTIONS);
      if (resolverConcurrency > 0 && !isDeployed && unreserved - resolverConcurrency < MIN_UNRESERVED_EXECUTIONS)
        return [
          'problem',
          `${unreserved} are free, and resolverConcurrency ${resolverConcurrency} must leave ${MIN_UNRESERVED_EXECUTIONS}: ${advice}, or lower resolverConcurrency`,
        ];
      if (total > entriesAtOnce + 1) return ['ok', `${total} at once`];
      return [
        'warning',
        `${total} at once, and a playlist alone uses ${entriesAtOnce + 1}: ${advice}, or lower entriesAtOnce`,
      ];
    },
    vCPUs: async () => {
      const quota = await findQuota(target, 'fargate', 'Fargate On-Demand vCPU resource count');
      if (!quota) return ['warning', UNKNOWN_QUOTA];
      const ofTasks = (count: number) => (count * sizes.taskCpu) / UNITS_PER_VCPU;
      const [least, most] = [ofTasks(Math.max(sizes.minTasks, 1)), ofTasks(sizes.maxTasks)];
      const text = `${quota.value} of Fargate`;
      const advice = raise('fargate', quota.code, Math.ceil(most));
      if (quota.value < least) return ['problem', `${text}, and the stream tasks need ${least}: ${advice}`];
      if (quota.value >= most) return ['ok', text];
      return ['warning', `${text}, and maxTasks ${sizes.maxTasks} is up to ${most}: ${advice}, or lower maxTasks`];
    },
    // A new account may have none.
    ...(settings.streamImage === 'codebuild' && {
      builds: async () => {
        const kind = settings.architecture === 'arm64' ? 'ARM' : 'Linux';
        const name = `Concurrently running builds for ${kind}/Small environment`;
        const quota = await findQuota(target, 'codebuild', name);
        if (!quota) return ['warning', UNKNOWN_QUOTA];
        if (quota.value > 0) return ['ok', `${quota.value} of CodeBuild at once`];
        return [
          'problem',
          `CodeBuild may build nothing in this account: ${raise('codebuild', quota.code, 1)}, or build here: -c streamImage=docker`,
        ];
      },
    }),
    ...(vpc ? { [vpc]: () => checkNetwork(target, vpc, sizes.streamHost === 'on-demand') } : { VPCs: checkNetworks }),
  };
  async function checkNetworks(): Promise<Answer> {
    const { Vpcs = [] } = await new EC2Client(target).send(new DescribeVpcsCommand({ MaxResults: 1000 }));
    const text = `${Vpcs.length} in ${region}`;
    if (isDeployed || Vpcs.length < USUAL_NETWORKS) return ['ok', text];
    return [
      'warning',
      `${text}: where the quota is ${USUAL_NETWORKS}, delete one, or ${raise('vpc', 'L-F678F1CE', 2 * USUAL_NETWORKS)}`,
    ];
  }
  return Promise.all(
    Object.entries(checks).map(async ([subject, check]) => {
      const unknown = (error: unknown): Answer => ['warning', `could not be checked: ${messageOf(error)}`];
      const [severity, text] = await check().catch(unknown);
      return { subject, severity, text };
    }),
  );
}

const UNKNOWN_QUOTA = 'Service Quotas does not know the quota: look for it in its console';

interface Quota {
  readonly code: string;
  readonly value: number;
}

/** A quota by its name: that of the account or, where AWS has not set one, that of all accounts. */
async function findQuota(target: AwsTarget, ServiceCode: string, name: string): Promise<Quota | undefined> {
  const client = new ServiceQuotasClient(target);
  for (const paginate of [paginateListServiceQuotas, paginateListAWSDefaultServiceQuotas])
    for await (const { Quotas = [] } of paginate({ client }, { ServiceCode })) {
      const found: ServiceQuota | undefined = Quotas.find(({ QuotaName }) => QuotaName === name);
      if (found?.Value !== undefined) return { code: found.QuotaCode ?? '', value: found.Value };
    }
  return undefined;
}

/** @param needsNames whether CloudFront reaches tasks by their public names, which EC2 gives where the network has both attributes */
async function checkNetwork(target: AwsTarget, VpcId: string, needsNames: boolean): Promise<Answer> {
  const client = new EC2Client(target);
  const has = (Attribute: 'enableDnsHostnames' | 'enableDnsSupport') =>
    client.send(new DescribeVpcAttributeCommand({ VpcId, Attribute }));
  try {
    const { EnableDnsHostnames } = await has('enableDnsHostnames');
    const { EnableDnsSupport } = await has('enableDnsSupport');
    if (!needsNames || (EnableDnsHostnames?.Value && EnableDnsSupport?.Value)) return ['ok', 'in this region'];
  } catch (error) {
    if ((error as Error).name !== 'InvalidVpcID.NotFound') throw error;
    return ['problem', `is not in ${target.region}`];
  }
  const modify = `aws ec2 modify-vpc-attribute --region ${target.region} --vpc-id ${VpcId}`;
  return [
    'problem',
    `has no DNS host names, by which CloudFront reaches a task of hobby: ${modify} --enable-dns-support, then the same with --enable-dns-hostnames`,
  ];
}

const messageOf = (error: unknown): string =>
  String((error as Error).message)
    .trim()
    .split(/\r?\n/, 1)[0]
    ?.slice(0, MAX_MESSAGE_CHARACTERS) ?? '';
