import { DescribeVpcsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Profile } from '../config/index.ts';
import type { SendAwsRequest } from './aws-requests.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

export interface QuotaOptions {
  readonly send: SendAwsRequest;
  readonly region: string;
  readonly awsProfile?: string | undefined;
  readonly profile: Profile;
  /** Whether the stack exists, and so has what it needs. */
  readonly isDeployed: boolean;
}

interface Quota {
  readonly QuotaName: string;
  readonly QuotaCode: string;
  readonly Value: number;
}

/** Lambda leaves no fewer to all functions without a reservation. */
const MIN_UNRESERVED_EXECUTIONS = 100;
/** CloudFront's quotas are in this region alone. */
const GLOBAL_REGION = 'us-east-1';
/** A deployment has two: for the page and for the API. */
const HEADERS_POLICIES = 2;
const CLOUDFRONT_API = '/2020-05-31';

/** The quotas of a service by a pattern of their names; those of AWS where the account may not read them. */
async function findQuota(
  { send, region }: Pick<QuotaOptions, 'send' | 'region'>,
  { service, name, byDefault }: { readonly service: string; readonly name: RegExp; readonly byDefault: number },
): Promise<{ readonly value: number; readonly raise: string }> {
  const quotas: Quota[] = [];
  let token: string | undefined;
  do {
    const answer = await send({
      service: 'servicequotas',
      region,
      body: JSON.stringify({ ServiceCode: service, NextToken: token }),
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'ServiceQuotasV20190624.ListServiceQuotas',
      },
    }).catch(() => '{}');
    const page: { Quotas?: Quota[]; NextToken?: string } = JSON.parse(answer);
    quotas.push(...(page.Quotas ?? []));
    token = page.NextToken;
  } while (token);
  const found = quotas.find(({ QuotaName }) => name.test(QuotaName));
  const code = found ? ` --quota-code ${found.QuotaCode}` : '';
  return {
    value: found?.Value ?? byDefault,
    raise: `raise it with aws service-quotas request-service-quota-increase --region ${region} --service-code ${service}${code}`,
  };
}

/** Concurrent executions of Lambda. A new account may have ten. */
export async function checkExecutions({
  region,
  awsProfile,
  profile,
  isDeployed,
  ...rest
}: QuotaOptions): Promise<Finding> {
  const subject = 'Lambda executions';
  const client = new LambdaClient({ region, ...(awsProfile && { profile: awsProfile }) });
  const { AccountLimit } = await client.send(new GetAccountSettingsCommand({})).finally(() => client.destroy());
  const { ConcurrentExecutions: total = 0, UnreservedConcurrentExecutions: unreserved = total } = AccountLimit ?? {};
  const { raise } = await findQuota(
    { ...rest, region },
    { service: 'lambda', name: /^Concurrent executions/, byDefault: 1000 },
  );
  const { resolverConcurrency: reserved = 0, entriesAtOnce } = profile;
  if (reserved > 0 && !isDeployed && unreserved - reserved < MIN_UNRESERVED_EXECUTIONS)
    return problem(
      subject,
      `${unreserved} are free, and resolverConcurrency ${reserved} must leave ${MIN_UNRESERVED_EXECUTIONS}: ${raise}, or lower resolverConcurrency`,
    );
  if (total <= entriesAtOnce + 1)
    return warning(
      subject,
      `${total} at once, and a playlist alone uses ${entriesAtOnce + 1}: ${raise}, or lower entriesAtOnce`,
    );
  return ok(subject, `${total} at once`);
}

/** Networks of the region. A new account has one of five. */
export async function checkNetworks(options: QuotaOptions): Promise<Finding> {
  const subject = 'VPCs';
  const { region, awsProfile, isDeployed } = options;
  const client = new EC2Client({ region, ...(awsProfile && { profile: awsProfile }) });
  const { Vpcs = [] } = await client
    .send(new DescribeVpcsCommand({ MaxResults: 1000 }))
    .finally(() => client.destroy());
  const { value, raise } = await findQuota(options, { service: 'vpc', name: /^VPCs per Region/, byDefault: 5 });
  const text = `${Vpcs.length} of ${value} in ${region}`;
  return isDeployed || Vpcs.length < value
    ? ok(subject, text)
    : problem(subject, `${text}, and this needs one: delete one, or ${raise}`);
}

/** Processors of Fargate. A new account may have six. */
export async function checkProcessors(options: QuotaOptions): Promise<Finding> {
  const subject = 'Fargate vCPUs';
  const { minTasks, maxTasks, taskCpu } = options.profile;
  const { value, raise } = await findQuota(options, {
    service: 'fargate',
    name: /^Fargate On-Demand vCPU/,
    byDefault: 6,
  });
  const [least, most] = [Math.max(minTasks, 1), maxTasks].map((tasks) => (tasks * taskCpu) / 1024);
  const text = `${value}, of ${least === most ? most : `${least} to ${most}`} that tasks use`;
  if (value < (least ?? 0)) return problem(subject, `${text}: ${raise}`);
  return value < (most ?? 0) ? warning(subject, `${text}: ${raise}, or lower maxTasks`) : ok(subject, text);
}

/** Resources of CloudFront, which are of the account and not of a region. */
export async function checkCloudFront({ send, isDeployed }: QuotaOptions): Promise<Finding[]> {
  const count = async (path: string) => {
    const answer = await send({ service: 'cloudfront', region: GLOBAL_REGION, path: `${CLOUDFRONT_API}/${path}` });
    return Number(/<Quantity>(\d+)</.exec(answer)?.[1] ?? 0);
  };
  const find = (name: RegExp, byDefault: number) =>
    findQuota({ send, region: GLOBAL_REGION }, { service: 'cloudfront', name, byDefault });
  const judge = (subject: string, used: number, needed: number, { value, raise }: Awaited<ReturnType<typeof find>>) => {
    const text = `${used} of ${value}`;
    const fits = isDeployed || used + needed <= value;
    return fits
      ? ok(subject, text)
      : problem(subject, `${text}, and this needs ${needed}: delete unused ones, or ${raise}`);
  };
  const distributions = await count('distribution?MaxItems=1000');
  const policies = await count('response-headers-policy?Type=custom&MaxItems=1000');
  const verified = warning(
    'CloudFront',
    'no distribution yet: if the deployment fails with “your account must be verified”, open a support case (Account, CloudFront; free), and deploy again once it is answered',
  );
  return [
    ...(distributions === 0 ? [verified] : []),
    judge('distributions', distributions, 1, await find(/distributions per AWS account/i, 500)),
    judge('response headers policies', policies, HEADERS_POLICIES, await find(/^response headers policies per/i, 20)),
  ];
}

/** Names of CloudFront that an earlier deployment has left behind: they are unique in the account. */
export async function checkNames({ send, isDeployed }: QuotaOptions, prefix: string): Promise<Finding> {
  const subject = 'names';
  if (isDeployed) return ok(subject, 'the stack exists and is updated');
  const kinds = [
    'function',
    'key-value-store',
    'response-headers-policy?Type=custom',
    'cache-policy?Type=custom',
    'origin-access-control',
  ];
  const answers = await Promise.all(
    kinds.map((path) => send({ service: 'cloudfront', region: GLOBAL_REGION, path: `${CLOUDFRONT_API}/${path}` })),
  );
  const taken = answers.flatMap((answer, index) =>
    [...answer.matchAll(/<Name>([^<]+)</g)].flatMap(([, name = '']) =>
      name.startsWith(`${prefix}-`) ? [`${kinds[index]?.split('?')[0]} ${name}`] : [],
    ),
  );
  if (taken.length === 0) return ok(subject, `none of ${prefix} is taken`);
  return problem(
    subject,
    `taken at CloudFront without a stack: ${taken.join(', ')}: delete them, or choose another stage`,
  );
}
