import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Finding, formatFindings } from '../../core/findings/index.ts';
import { checkAccount, checkMachine } from '../../infra/cli/preflight.ts';
import { readContext } from '../../infra/settings.ts';
import { refusalXml, stackXml, useFakeEndpoint } from './cli/fake-endpoint.ts';

/**
 * What the account has. Of Service Quotas this has two services in one page each, and no quota of a resource; of networks, two attributes.
 */
interface Account {
  executions: number;
  vpcs: number;
  /** Attributes of the network vpc-1. */
  attributes: Record<string, boolean>;
  /** Quotas of the account, and those of all accounts, by name. */
  quotas: Record<'applied' | 'usual', Record<string, number>>;
  stack: string | undefined;
  closedUntil: string | null;
  /** Statuses of refused requests by a word of them. */
  refused: Record<string, number>;
  /** Sent with status 403 in place of answers but those of CloudFormation. */
  page?: string;
}
const VCPUS = 'Fargate On-Demand vCPU resource count';
const BUILDS = 'Concurrently running builds for ARM/Small environment';
const EMPTY: Account = {
  executions: 10,
  vpcs: 1,
  attributes: { enableDnsHostnames: true, enableDnsSupport: true },
  quotas: { applied: { [VCPUS]: 6 }, usual: { [BUILDS]: 1, [VCPUS]: 6 } },
  stack: undefined,
  closedUntil: null,
  refused: {},
};
let account: Account;
beforeEach(() => {
  account = structuredClone(EMPTY);
});

useFakeEndpoint('AWS_ENDPOINT_URL', async (request, reply) => {
  const body = await text(request);
  if (account.page && !body.includes('DescribeStacks')) {
    reply.writeHead(403, { 'content-type': 'text/html' }).end(account.page);
    return;
  }
  const wanted = `${request.method} ${request.url} ${request.headers['x-amz-target'] ?? ''} ${body}`;
  const refused = Object.entries(account.refused).find(([word]) => wanted.includes(word));
  if (refused) {
    reply.writeHead(refused[1], { 'content-type': 'text/xml' });
    reply.end(refusalXml('Denied', 'is not authorized'));
    return;
  }
  expect(request.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=an-id\//);
  const [status, type, answer] = answerTo(wanted, body);
  reply.writeHead(status, { 'content-type': type }).end(answer);
});

function answerTo(wanted: string, body: string): [status: number, type: string, answer: string] {
  const xml = (answer: string): [number, string, string] => [200, 'text/xml', answer];
  if (wanted.includes('account-settings')) {
    const limit = { ConcurrentExecutions: account.executions, UnreservedConcurrentExecutions: account.executions };
    return [200, 'application/json', JSON.stringify({ AccountLimit: limit })];
  }
  const [, kind] = /\.List(AWSDefault)?ServiceQuotas /.exec(wanted) ?? [];
  if (wanted.includes('ServiceQuotasV20190624')) {
    const { ServiceCode } = JSON.parse(body);
    const quotas = Object.entries(account.quotas[kind ? 'usual' : 'applied'])
      .filter(([name]) => name.startsWith('Fargate') === (ServiceCode === 'fargate'))
      .map(([QuotaName, Value]) => ({ ServiceCode, QuotaCode: `L-${ServiceCode}`, QuotaName, Value }));
    return [200, 'application/x-amz-json-1.1', JSON.stringify({ Quotas: quotas })];
  }
  if (wanted.includes('DescribeVpcAttribute')) {
    const parameters = new URLSearchParams(body);
    if (parameters.get('VpcId') !== 'vpc-1') return [400, 'text/xml', ec2Refusal('InvalidVpcID.NotFound')];
    const name = parameters.get('Attribute') ?? '';
    const value = `<${name}><value>${account.attributes[name]}</value></${name}>`;
    return xml(`<DescribeVpcAttributeResponse><vpcId>vpc-1</vpcId>${value}</DescribeVpcAttributeResponse>`);
  }
  if (wanted.includes('DescribeVpcs'))
    return xml(
      `<DescribeVpcsResponse><vpcSet>${'<item><vpcId>vpc-1</vpcId></item>'.repeat(account.vpcs)}</vpcSet></DescribeVpcsResponse>`,
    );
  if (wanted.includes('DescribeStacks')) {
    if (!body.includes('StackName'))
      return xml('<DescribeStacksResponse><DescribeStacksResult/></DescribeStacksResponse>');
    if (!account.stack) return [400, 'text/xml', refusalXml()];
    const status = `<StackStatus>${account.stack}</StackStatus>`;
    return xml(stackXml({ CostGuardFunction: 'the-guard' }, status));
  }
  if (wanted.includes('/invocations')) {
    expect([wanted, body]).toEqual([expect.stringContaining('/the-guard/'), '{}']);
    return [200, 'application/json', JSON.stringify({ closedUntil: account.closedUntil })];
  }
  throw new Error(`Unexpected request: ${wanted}`);
}

const ec2Refusal = (code: string) =>
  `<Response><Errors><Error><Code>${code}</Code><Message>${code}</Message></Error></Errors></Response>`;

const check = (
  context: Record<string, unknown> = { profile: 'hobby' },
  region: string | undefined = 'eu-central-1',
  vpc?: string,
) => checkAccount({ settings: readContext(context), region, vpc });
const raise = (service: string, code: string, to: number) =>
  `aws service-quotas request-service-quota-increase --region eu-central-1 --service-code ${service} --quota-code ${code} --desired-value ${to}`;
const stateOf = (findings: readonly Finding[], subject: string) =>
  findings.filter((finding) => finding.subject === subject).map(({ severity, text: said }) => [severity, said]);

describe('the preflight of an account', () => {
  it('lets hobby into an empty account, and says what new accounts meet', async () => {
    const findings = await check();
    expect(findings.filter(({ severity }) => severity === 'problem')).toEqual([]);
    expect(stateOf(findings, 'bootstrap in eu-central-1')).toEqual([['ok', 'npm run deploy does it']]);
    expect(stateOf(findings, 'VPCs')).toEqual([['ok', '1 in eu-central-1']]);
    expect(formatFindings(findings).split('\n')).toHaveLength(findings.length);
  });

  it('names quotas that are too low, with the command that raises them', async () => {
    account.vpcs = 5;
    const findings = await check({ profile: 'public' });
    expect(stateOf(findings, 'VPCs')).toEqual([['warning', expect.stringContaining(raise('vpc', 'L-F678F1CE', 10))]]);
    expect(stateOf(findings, 'Lambda executions')).toEqual([
      ['warning', expect.stringContaining(raise('lambda', 'L-B99A9384', 1000))],
    ]);
    expect(stateOf(findings, 'vCPUs')).toEqual([
      [
        'warning',
        `6 of Fargate, and maxTasks 20 is up to 20: raise it with ${raise('fargate', 'L-fargate', 20)}, or lower maxTasks`,
      ],
    ]);
    expect(stateOf(findings, 'bootstrap in us-east-1')).toHaveLength(1);
  });

  it('refuses an account whose Fargate runs no task', async () => {
    expect(stateOf(await check(), 'vCPUs')).toEqual([['ok', '6 of Fargate']]);
    account.quotas.applied[VCPUS] = 0;
    expect(stateOf(await check(), 'vCPUs')).toEqual([
      ['problem', `0 of Fargate, and the stream tasks need 0.5: raise it with ${raise('fargate', 'L-fargate', 1)}`],
    ]);
    expect(stateOf(await check({ profile: 'public' }), 'vCPUs')).toEqual([
      ['problem', expect.stringContaining(' need 2: ')],
    ]);
  });

  it('refuses an account whose CodeBuild builds nothing, where it is to build the image', async () => {
    const context = { profile: 'hobby', streamImage: 'codebuild' };
    expect(stateOf(await check(context), 'builds')).toEqual([['ok', '1 of CodeBuild at once']]);
    account.quotas.applied[BUILDS] = 0;
    expect(stateOf(await check(context), 'builds')).toEqual([
      [
        'problem',
        `CodeBuild may build nothing in this account: raise it with ${raise('codebuild', 'L-codebuild', 1)}, or build here: -c streamImage=docker`,
      ],
    ]);
    expect(stateOf(await check({ profile: 'hobby' }), 'builds')).toEqual([]);
    // Its environment is another one.
    account.quotas.applied['Concurrently running builds for Linux/Small environment'] = 2;
    const onIntel = { ...context, architecture: 'x86_64' };
    expect(stateOf(await check(onIntel), 'builds')).toEqual([['ok', '2 of CodeBuild at once']]);
  });

  it('says where Service Quotas does not know a quota, or may not be asked', async () => {
    account.quotas = { applied: {}, usual: {} };
    expect(stateOf(await check(), 'vCPUs')).toEqual([['warning', expect.stringContaining('does not know the quota')]]);
    account.refused = { ServiceQuotas: 400 };
    expect(stateOf(await check(), 'vCPUs')).toEqual([['warning', expect.stringMatching(/^could not be checked: /)]]);
  });

  it.each(['enableDnsHostnames', 'enableDnsSupport'])('refuses a given network without %s for hobby', async (name) => {
    expect(stateOf(await check({ profile: 'hobby' }, 'eu-central-1', 'vpc-1'), 'vpc-1')).toEqual([
      ['ok', 'in this region'],
    ]);
    account.attributes[name] = false;
    const modify = 'aws ec2 modify-vpc-attribute --region eu-central-1 --vpc-id vpc-1';
    const findings = await check({ profile: 'hobby' }, 'eu-central-1', 'vpc-1');
    expect(stateOf(findings, 'vpc-1')).toEqual([
      [
        'problem',
        `has no DNS host names, by which CloudFront reaches a task of hobby: ${modify} --enable-dns-support, then the same with --enable-dns-hostnames`,
      ],
    ]);
    // No network is made.
    expect(stateOf(findings, 'VPCs')).toEqual([]);
    // A load balancer has a name of its own.
    expect(stateOf(await check({ profile: 'team' }, 'eu-central-1', 'vpc-1'), 'vpc-1')).toEqual([
      ['ok', 'in this region'],
    ]);
  });

  it('refuses a given network of another region', async () => {
    expect(stateOf(await check({ profile: 'team' }, 'eu-central-1', 'vpc-2'), 'vpc-2')).toEqual([
      ['problem', 'is not in eu-central-1'],
    ]);
  });

  it('refuses a reserved concurrency that the account cannot give', async () => {
    const findings = await check({ profile: 'public', resolverConcurrency: 50 });
    expect(stateOf(findings, 'Lambda executions')).toEqual([['problem', expect.stringContaining('must leave 100')]]);
  });

  it('needs nothing more for a stack that exists', async () => {
    Object.assign(account, { vpcs: 5, stack: 'UPDATE_COMPLETE' });
    const findings = await check();
    expect(findings.filter(({ severity }) => severity === 'problem')).toEqual([]);
  });

  it('stops while the cost guard keeps the service closed', async () => {
    account.stack = 'UPDATE_COMPLETE';
    expect(stateOf(await check(), 'spending')).toEqual([['ok', 'open']]);
    account.closedUntil = '2026-11-28T00:00:00.000Z';
    expect(stateOf(await check(), 'spending')).toEqual([
      ['problem', 'the cost guard keeps it closed until 2026-11-28T00:00:00.000Z: wait, or npm run infra -- reopen'],
    ]);
  });

  it('continues where it may not look, and says so', async () => {
    account.refused = { DescribeVpcs: 403 };
    const findings = await check();
    expect(stateOf(findings, 'VPCs')).toEqual([['warning', expect.stringContaining('could not be checked')]]);
  });

  it('quotes no more than a line of an answer that is not AWS’s own', async () => {
    account.page = `<!doctype html>\n${'<p>Sign in to this network</p>\n'.repeat(20)}`;
    const findings = await check();
    expect(formatFindings(findings).split('\n')).toHaveLength(findings.length);
    for (const { text: said } of findings) expect(said.length).toBeLessThan(250);
    expect(stateOf(findings, 'VPCs')).toEqual([['warning', expect.stringContaining('could not be checked')]]);
  });

  it('stops at credentials that are not valid, at a missing region, and at a region that lacks a part', async () => {
    account.refused = { DescribeStacks: 403 };
    expect(await check()).toEqual([
      {
        severity: 'problem',
        subject: 'account',
        text: expect.stringMatching(/AWS accepts no request \(is not authorized\): set AWS_PROFILE/),
      },
    ]);
    account.refused = {};
    expect(await checkAccount({ settings: readContext({}), region: undefined })).toMatchObject([{ subject: 'region' }]);
    expect((await check({ profile: 'hobby' }, 'ap-east-2')).at(-1)).toMatchObject({
      severity: 'problem',
      subject: 'region',
      text: expect.stringMatching(/^ap-east-2 has no function URLs/),
    });
  });
});

describe('the preflight of this machine', () => {
  it('asks for a program that builds images', () => {
    vi.stubEnv('CDK_DOCKER', '/nowhere/docker');
    expect(checkMachine(readContext({}))).toMatchObject([{ severity: 'problem', subject: 'image' }]);
    vi.stubEnv('CDK_DOCKER', 'true');
    expect(checkMachine(readContext({}))).toEqual([{ subject: 'image', severity: 'ok', text: 'true responds' }]);
    expect(checkMachine(readContext({ streamImage: 'codebuild' }))).toEqual([]);
    vi.unstubAllEnvs();
  });
});
