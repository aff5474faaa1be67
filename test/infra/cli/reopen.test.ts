import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { NODE_ENVIRONMENT } from '../../support/node-environment.ts';

const ROOT = join(import.meta.dirname, '../../..');
const STACK = `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>s</StackName><Outputs><member>
  <OutputKey>CostGuardFunction</OutputKey><OutputValue>the-guard</OutputValue></member></Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
const MISSING =
  '<ErrorResponse><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id s does not exist</Message></Error></ErrorResponse>';
const SPENDING = { hour: { spent: 0.5, expected: 0.6 }, day: { spent: 1.04, expected: 1.1 } };

/** CloudFormation and Lambda in one server, and what they were asked. */
const aws = { answer: {} as object, error: '', asked: [] as unknown[] };
const server = createServer(async (request, reply) => {
  const body = await text(request);
  if (!request.url?.includes('/functions/')) {
    const stack = new URLSearchParams(body).get('StackName');
    if (stack === 'reelay-main') reply.end(STACK);
    else reply.writeHead(400).end(MISSING);
    return;
  }
  aws.asked.push([request.url, JSON.parse(body)]);
  if (aws.error) reply.setHeader('x-amz-function-error', aws.error);
  reply.end(JSON.stringify(aws.answer));
});
const { url } = closeAfterwards(await listen(server));

const run = (...args: string[]) =>
  new Promise<[code: unknown, stdout: string, stderr: string]>((resolve) => {
    const env = {
      ...NODE_ENVIRONMENT,
      AWS_ENDPOINT_URL: url,
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'an-id',
      AWS_SECRET_ACCESS_KEY: 'a-secret',
    };
    execFile(process.execPath, ['infra/cli/reopen.ts', ...args], { cwd: ROOT, env }, (error, stdout, stderr) =>
      resolve([error?.code ?? 0, stdout, stderr]),
    );
  });

describe('npm run infra -- reopen', () => {
  it('invokes the guard of the stage, and says what has been spent', async () => {
    aws.answer = { closedUntil: null, spending: SPENDING, caps: { hour: 0.5, day: 1 } };
    expect(await run()).toEqual([
      0,
      'Open. By the metrics $0.50 of $0.5 this hour and $1.04 of $1 today, by list prices\n',
      '',
    ]);
    aws.answer = { ...aws.answer, closedUntil: '2026-11-24T00:00:00.000Z' };
    expect((await run('--status'))[1]).toMatch(/^Closed until 2026-11-24T00:00:00\.000Z\. /);
    expect(aws.asked).toEqual([
      [expect.stringContaining('/functions/the-guard/invocations'), { open: true }],
      [expect.stringContaining('/functions/the-guard/invocations'), {}],
    ]);
  });

  it('fails in one line without a stack, when the guard fails, and for unknown flags', async () => {
    expect(await run('--stage', 'blue')).toEqual([
      1,
      '',
      'There is no stack reelay-blue with a cost guard in eu-central-1: name it with --stage\n',
    ]);
    aws.error = 'Unhandled';
    aws.answer = { errorMessage: 'No answer' };
    expect(await run()).toEqual([1, '', 'The cost guard failed: {"errorMessage":"No answer"}\n']);
    expect((await run('--stag', 'blue'))[2]).toMatch(/^Unknown option '--stag'/);
  });
});
