import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { readContext } from '../../infra/config/settings.ts';
import type { Finding } from '../../infra/preflight/finding.ts';
import { checkAccount, checkMachine, formatFindings } from '../../infra/preflight/index.ts';
import { useFakeEndpoint } from './cli/fake-endpoint.ts';

/** What the account has. */
interface Account {
  distributions: number;
  policies: number;
  executions: number;
  vpcs: number;
  stack: string | undefined;
  /** Version of CDK's bootstrap by qualifier. */
  bootstraps: Record<string, string>;
  closedUntil: string | null;
  names: string[];
  /** Statuses of refused requests by a word of them. */
  refused: Record<string, number>;
  /** Sent with status 403 in place of every answer. */
  page?: string;
  quotas: Record<string, { QuotaName: string; QuotaCode: string; Value: number }[]>;
}
const EMPTY: Account = {
  distributions: 0,
  policies: 0,
  executions: 10,
  vpcs: 1,
  stack: undefined,
  bootstraps: {},
  closedUntil: null,
  names: [],
  refused: {},
  quotas: {
    lambda: [{ QuotaName: 'Concurrent executions', QuotaCode: 'L-B99A9384', Value: 10 }],
    vpc: [{ QuotaName: 'VPCs per Region', QuotaCode: 'L-F678F1CE', Value: 5 }],
    fargate: [{ QuotaName: 'Fargate On-Demand vCPU resource count', QuotaCode: 'L-3032A538', Value: 6 }],
  },
};
let account: Account;
beforeEach(() => {
  account = structuredClone(EMPTY);
});

useFakeEndpoint('AWS_ENDPOINT_URL', async (request, reply) => {
  const body = await text(request);
  if (account.page) {
    reply.writeHead(403, { 'content-type': 'text/html' }).end(account.page);
    return;
  }
  const wanted = `${request.method} ${request.url} ${request.headers['x-amz-target'] ?? ''} ${body}`;
  const refused = Object.entries(account.refused).find(([word]) => wanted.includes(word));
  if (refused) {
    reply.writeHead(refused[1], { 'content-type': 'text/xml' });
    reply.end('<ErrorResponse><Error><Code>Denied</Code><Message>is not authorized</Message></Error></ErrorResponse>');
    return;
  }
  expect(request.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=an-id\//);
  const [status, type, answer] = answerTo(wanted, body);
  reply.writeHead(status, { 'content-type': type }).end(answer);
});

function answerTo(wanted: string, body: string): [status: number, type: string, answer: string] {
  const xml = (answer: string): [number, string, string] => [200, 'text/xml', answer];
  const list = (quantity: number, names: readonly string[] = []) =>
    xml(`<List><Quantity>${quantity}</Quantity>${names.map((name) => `<Name>${name}</Name>`).join('')}</List>`);
  if (wanted.includes('GetCallerIdentity')) return xml('<Result><Account>111111111111</Account></Result>');
  if (wanted.includes('ListServiceQuotas')) {
    const { ServiceCode, NextToken } = JSON.parse(body);
    const all = account.quotas[ServiceCode] ?? [];
    // A page for each quota.
    const at = Number(NextToken ?? 0);
    const next = at + 1 < all.length ? { NextToken: String(at + 1) } : {};
    return [200, 'application/x-amz-json-1.1', JSON.stringify({ Quotas: all.slice(at, at + 1), ...next })];
  }
  if (wanted.includes('account-settings')) {
    const limit = { ConcurrentExecutions: account.executions, UnreservedConcurrentExecutions: account.executions };
    return [200, 'application/json', JSON.stringify({ AccountLimit: limit })];
  }
  if (wanted.includes('DescribeVpcs'))
    return xml(
      `<DescribeVpcsResponse><vpcSet>${'<item><vpcId>vpc-1</vpcId></item>'.repeat(account.vpcs)}</vpcSet></DescribeVpcsResponse>`,
    );
  if (wanted.includes('DescribeStacks')) {
    if (!account.stack)
      return [
        400,
        'text/xml',
        '<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id reelay-main does not exist</Message></Error></ErrorResponse>',
      ];
    return xml(
      `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>reelay-main</StackName><StackStatus>${account.stack}</StackStatus><Outputs><member><OutputKey>CostGuardFunction</OutputKey><OutputValue>the-guard</OutputValue></member></Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    );
  }
  if (wanted.includes('GetParameter')) {
    const [, qualifier = ''] = /^\/cdk-bootstrap\/(\w+)\/version$/.exec(JSON.parse(body).Name) ?? [];
    const Value = account.bootstraps[qualifier];
    const json = 'application/x-amz-json-1.1';
    if (!Value) return [400, json, JSON.stringify({ __type: 'ParameterNotFound', message: 'There is none' })];
    return [200, json, JSON.stringify({ Parameter: { Value } })];
  }
  if (wanted.includes('/invocations')) {
    expect([wanted, body]).toEqual([expect.stringContaining('/the-guard/'), '{}']);
    return [200, 'application/json', JSON.stringify({ closedUntil: account.closedUntil })];
  }
  if (wanted.includes('/distribution')) return list(account.distributions);
  if (wanted.includes('/response-headers-policy')) return list(account.policies);
  if (wanted.includes('/function')) return list(account.names.length, account.names);
  return list(0);
}

const check = (
  context: Record<string, unknown> = { profile: 'hobby' },
  region: string | undefined = 'eu-central-1',
  qualifier?: string,
) => checkAccount({ settings: readContext(context), region, qualifier });
const stateOf = (findings: readonly Finding[], subject: string) =>
  findings.filter((finding) => finding.subject === subject).map(({ state, text: said }) => [state, said]);

describe('the preflight of an account', () => {
  it('lets hobby into an empty account, and says what new accounts meet', async () => {
    const findings = await check();
    expect(findings.filter(({ state }) => state === 'problem')).toEqual([]);
    expect(stateOf(findings, 'account')).toEqual([['ok', '111111111111']]);
    expect(stateOf(findings, 'CloudFront')).toEqual([['warning', expect.stringContaining('must be verified')]]);
    expect(stateOf(findings, 'bootstrap')).toEqual([['ok', 'npm run deploy bootstraps eu-central-1 for CDK']]);
    expect(stateOf(findings, 'VPCs')).toEqual([['ok', '1 of 5 in eu-central-1']]);
    expect(formatFindings(findings).split('\n')).toHaveLength(findings.length);
  });

  it('names quotas that are too low, with the command that raises them', async () => {
    Object.assign(account, { vpcs: 5, distributions: 500, policies: 19 });
    const findings = await check({ profile: 'public' });
    const raise = (service: string, code: string) =>
      `aws service-quotas request-service-quota-increase --region ${service === 'cloudfront' ? 'us-east-1' : 'eu-central-1'} --service-code ${service}${code}`;
    expect(stateOf(findings, 'VPCs')).toEqual([
      ['problem', expect.stringContaining(raise('vpc', ' --quota-code L-F678F1CE'))],
    ]);
    expect(stateOf(findings, 'distributions')).toEqual([['problem', expect.stringContaining(raise('cloudfront', ''))]]);
    expect(stateOf(findings, 'response headers policies')).toEqual([['problem', expect.stringContaining('19 of 20')]]);
    expect(stateOf(findings, 'Lambda executions')).toEqual([['warning', expect.stringContaining('L-B99A9384')]]);
    expect(stateOf(findings, 'Fargate vCPUs')).toEqual([
      ['warning', expect.stringMatching(/^6, of 2 to 20 .*lower maxTasks$/)],
    ]);
    expect(stateOf(findings, 'bootstrap')).toHaveLength(2);
  });

  it('refuses a reserved concurrency that the account cannot give, and tasks that it cannot run', async () => {
    account.quotas.fargate = [
      { QuotaName: 'Fargate On-Demand vCPU resource count', QuotaCode: 'L-3032A538', Value: 1 },
    ];
    const findings = await check({ profile: 'public', resolverConcurrency: 50 });
    expect(stateOf(findings, 'Lambda executions')).toEqual([['problem', expect.stringContaining('must leave 100')]]);
    expect(stateOf(findings, 'Fargate vCPUs')).toEqual([['problem', expect.stringContaining('raise it with')]]);
  });

  it('needs nothing more for a stack that exists', async () => {
    Object.assign(account, { vpcs: 5, policies: 20, distributions: 500, stack: 'UPDATE_COMPLETE' });
    account.names = ['reelay-main-eu-central-1-on-demand'];
    const findings = await check();
    expect(findings.filter(({ state }) => state === 'problem')).toEqual([]);
  });

  it.each([
    [{}, undefined, 'npm run deploy bootstraps eu-central-1 for CDK'],
    [{ hnb659fds: '5' }, undefined, 'npm run deploy bootstraps eu-central-1 for CDK'],
    [{ hnb659fds: '6' }, undefined, 'eu-central-1 is bootstrapped for CDK'],
    [{ hnb659fds: '21' }, 'mine', 'npm run deploy bootstraps eu-central-1 for CDK'],
    [{ mine: '21' }, 'mine', 'eu-central-1 is bootstrapped for CDK'],
  ])(
    'looks for a version of CDK’s bootstrap that can be used: %j with the qualifier %s',
    async (bootstraps, qualifier, said) => {
      Object.assign(account, { bootstraps });
      const findings = await check({ profile: 'hobby' }, 'eu-central-1', qualifier);
      expect(stateOf(findings, 'bootstrap')).toEqual([['ok', said]]);
    },
  );

  it('stops while the cost guard keeps the service closed', async () => {
    account.stack = 'UPDATE_COMPLETE';
    expect(stateOf(await check(), 'spending')).toEqual([['ok', 'open']]);
    account.closedUntil = '2026-11-28T00:00:00.000Z';
    expect(stateOf(await check(), 'spending')).toEqual([
      ['problem', 'the cost guard keeps it closed until 2026-11-28T00:00:00.000Z: wait, or npm run infra -- reopen'],
    ]);
  });

  it('names what an earlier stack has left behind', async () => {
    account.names = ['reelay-main-eu-central-1-on-demand', 'reelay-main-eu-west-1-on-demand', 'another'];
    const [[state, said] = []] = stateOf(await check(), 'names');
    expect(state).toBe('problem');
    expect(said).toContain('function reelay-main-eu-central-1-on-demand: delete them');
  });

  it('continues where it may not look, and says so', async () => {
    account.refused = { DescribeVpcs: 403, ListServiceQuotas: 400, '/distribution': 403 };
    const findings = await check();
    expect(stateOf(findings, 'VPCs')).toEqual([['warning', expect.stringContaining('could not be checked')]]);
    expect(stateOf(findings, 'CloudFront')).toEqual([['warning', 'could not be checked: is not authorized']]);
    expect(stateOf(findings, 'Fargate vCPUs')).toEqual([['ok', expect.stringMatching(/^6, of 0.5 /)]]);
  });

  it('quotes no more than a line of an answer that is not AWS’s own', async () => {
    account.page = `<!doctype html>\n${'<p>Sign in to this network</p>\n'.repeat(20)}`;
    const findings = await check();
    expect(formatFindings(findings).split('\n')).toHaveLength(findings.length);
    for (const { text: said } of findings) expect(said.length).toBeLessThan(250);
    expect(stateOf(findings, 'account')).toEqual([['problem', expect.stringContaining('<!doctype html>')]]);
  });

  it('stops at credentials that are not valid, at a missing region, and at a region that lacks a part', async () => {
    account.refused = { GetCallerIdentity: 403 };
    expect(await check()).toEqual([
      {
        state: 'problem',
        subject: 'account',
        text: expect.stringMatching(/no valid AWS credentials \(is not authorized\): set AWS_PROFILE/),
      },
    ]);
    account.refused = {};
    expect(await checkAccount({ settings: readContext({}), region: undefined })).toMatchObject([{ subject: 'region' }]);
    expect((await check({ profile: 'hobby' }, 'ap-east-2')).at(-1)).toMatchObject({
      state: 'problem',
      subject: 'region',
      text: expect.stringMatching(/^ap-east-2 has no function URLs/),
    });
  });
});

describe('the preflight of this machine', () => {
  it('asks for a program that builds images', () => {
    vi.stubEnv('CDK_DOCKER', '/nowhere/docker');
    expect(checkMachine()).toContainEqual(expect.objectContaining({ state: 'problem', subject: 'image' }));
    vi.stubEnv('CDK_DOCKER', 'true');
    expect(checkMachine()).toContainEqual(
      expect.objectContaining({
        state: 'warning',
        subject: 'image registry',
        text: expect.stringContaining('true login'),
      }),
    );
    vi.unstubAllEnvs();
  });
});
