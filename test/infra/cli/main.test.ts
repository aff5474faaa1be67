import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { NODE_ENVIRONMENT } from '../../support/node-environment.ts';
import { refusalXml, stackXml } from './fake-endpoint.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SPENDING = { hour: { spent: 0.5, expected: 0.6 }, day: { spent: 1.04, expected: 1.1 } };

const CREATED = '<StackStatus>CREATE_COMPLETE</StackStatus>';

/** CloudFormation and Lambda in one server, and what they were asked. */
const aws = { stacks: {} as Record<string, string>, answer: {} as object, error: '', asked: [] as unknown[] };
const server = createServer(async (request, reply) => {
  const body = await text(request);
  if (!request.url?.includes('/functions/')) {
    const parameters = new URLSearchParams(body);
    const stack = aws.stacks[parameters.get('StackName') ?? ''];
    if (parameters.get('Action') !== 'DescribeStacks') aws.asked.push(parameters.get('Action'));
    if (stack) reply.end(stack);
    else reply.writeHead(400).end(refusalXml());
    return;
  }
  aws.asked.push([request.url, JSON.parse(body)]);
  if (aws.error) reply.setHeader('x-amz-function-error', aws.error);
  reply.end(JSON.stringify(aws.answer));
});
const { url } = closeAfterwards(await listen(server));
beforeEach(() => Object.assign(aws, { stacks: {}, answer: {}, error: '', asked: [] }));

/** Exit code and output of the command. */
const run = (args: readonly string[], more: Record<string, string> = {}) =>
  new Promise<[code: unknown, stdout: string, stderr: string]>((resolve) => {
    const env = {
      ...NODE_ENVIRONMENT,
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'an-id',
      AWS_SECRET_ACCESS_KEY: 'a-secret',
      ...more,
    };
    execFile(process.execPath, ['infra/cli/main.ts', ...args], { cwd: ROOT, env }, (error, stdout, stderr) =>
      resolve([error?.code ?? 0, stdout, stderr]),
    );
  });

describe('npm run infra', () => {
  it.each([[[]], [['deplyo']]])('prints its usage for %j', async (args) => {
    expect(await run(args)).toEqual([
      2,
      '',
      expect.stringMatching(/^Use: npm run infra -- synth\|preflight\|deploy\|diff\|destroy\|reopen .*\n$/),
    ]);
  });

  it.each([
    ['/nowhere/docker', 'is not installed'],
    ['false', 'does not run'],
  ])('deploy builds nothing where %s %s', async (program, trouble) => {
    const [code, , stderr] = await run(['deploy', '-c', 'profile=hobby'], { CDK_DOCKER: program });
    expect(stderr).toMatch(new RegExp(`^problem +image +${program} ${trouble}: `, 'm'));
    expect(stderr).toMatch(/streamImage=codebuild\n(.*\n)*Nothing was built\. .*\n$/);
    expect(code).toBe(2);
  });

  it.each([['--vpc'], ['--vpc=main']])('preflight says what %s needs', async (flag) => {
    const [code, , stderr] = await run(['preflight', '-c', 'profile=hobby', flag]);
    expect([code, stderr]).toEqual([2, '--vpc needs the id of a network, such as vpc-0123456789abcdef0\n']);
  });

  it('deploy keeps the stream host that is deployed, unless another profile is named', async () => {
    aws.stacks = { 'reelay-main': stackXml({ Profile: 'hobby' }, CREATED) };
    expect(await run(['deploy', '--skip-preflight'])).toEqual([
      2,
      '',
      'The deployed profile is hobby, and none was named: add -c profile=hobby to keep it, or -c profile=team to change it\n',
    ]);
    aws.stacks = { 'reelay-main': stackXml({}, CREATED) };
    expect((await run(['deploy', '--skip-preflight']))[2]).toMatch(/^The stack does not tell its profile/);
  });

  it('deploy unprotects a stack whose first deployment has failed, which CDK then deletes, and no other', async () => {
    const isProtected = '<EnableTerminationProtection>true</EnableTerminationProtection>';
    const inState = (status: string) => stackXml({}, `<StackStatus>${status}</StackStatus>${isProtected}`);
    const unprotected = async (status: string) => {
      aws.asked = [];
      aws.stacks = { 'reelay-main': inState(status) };
      const [code] = await run(['deploy', '--skip-preflight', '-c', 'profile=public', '--app', 'false']);
      return [code, aws.asked.includes('UpdateTerminationProtection')];
    };
    expect(await unprotected('ROLLBACK_COMPLETE')).toEqual([2, true]);
    expect(await unprotected('UPDATE_COMPLETE')).toEqual([2, false]);
  });

  it.each(['--output=elsewhere', '-o'])('deploy refuses %s: it deploys what it has synthesized', async (flag) => {
    expect(await run(['deploy', '--skip-preflight', flag])).toEqual([2, '', expect.stringMatching(/^deploy writes/)]);
  });

  it('names an invalid setting in one line, and a missing region', async () => {
    expect(await run(['deploy', '-c', 'profile=larger'])).toEqual([2, '', expect.stringMatching(/^profile .*\n$/)]);
    const region = { AWS_REGION: '', AWS_CONFIG_FILE: '/nowhere', AWS_SHARED_CREDENTIALS_FILE: '/nowhere' };
    expect((await run(['destroy'], region))[2]).toMatch(/^No AWS region: .*\n$/);
  });

  it('destroy leaves a protected stack alone, that of the firewall too', async () => {
    const isProtected = '<EnableTerminationProtection>true</EnableTerminationProtection>';
    aws.stacks = { 'reelay-blue-edge-eu-central-1': stackXml({}, isProtected) };
    expect(await run(['destroy', '-c', 'stage=blue'])).toEqual([
      2,
      '',
      'reelay-blue-edge-eu-central-1 in us-east-1 is protected against deletion: add --unprotect to delete it\n',
    ]);
    expect(aws.asked).toEqual([]);
  });
});

describe('npm run infra -- reopen', () => {
  beforeEach(() => {
    aws.stacks = { 'reelay-main': stackXml({ CostGuardFunction: 'the-guard' }, CREATED) };
  });

  it('invokes the guard of the stage, and says what has been spent', async () => {
    aws.answer = { closedUntil: null, spending: SPENDING, caps: { hour: 0.5, day: 1 } };
    expect(await run(['reopen'])).toEqual([
      0,
      'Open. By the metrics $0.50 of $0.5 this hour and $1.04 of $1 today, by list prices\n',
      '',
    ]);
    aws.answer = { ...aws.answer, closedUntil: '2026-11-24T00:00:00.000Z' };
    expect((await run(['reopen', '--status']))[1]).toMatch(/^Closed until 2026-11-24T00:00:00\.000Z\. /);
    expect(aws.asked).toEqual([
      [expect.stringContaining('/functions/the-guard/invocations'), { open: true }],
      [expect.stringContaining('/functions/the-guard/invocations'), {}],
    ]);
  });

  it('fails in one line without a stack, when the guard fails, and for unknown flags', async () => {
    expect(await run(['reopen', '-c', 'stage=blue'])).toEqual([
      2,
      '',
      'There is no stack reelay-blue with a cost guard in eu-central-1: name it with -c stage=\n',
    ]);
    aws.error = 'Unhandled';
    aws.answer = { errorMessage: 'No answer' };
    expect(await run(['reopen'])).toEqual([2, '', 'The cost guard failed: {"errorMessage":"No answer"}\n']);
    expect((await run(['reopen', '--stat']))[2]).toMatch(/^Unknown option '--stat'/);
  });
});
