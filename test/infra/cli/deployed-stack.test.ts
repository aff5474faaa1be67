import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  EVERY_STACK,
  findStack,
  hasUpdateConflict,
  isBootstrapped,
  unprotect,
} from '../../../infra/cli/deployed-stack.ts';
import { profileOf } from '../../../infra/profiles.ts';
import { readContext } from '../../../infra/settings.ts';
import { PROFILE_NAMES, template } from '../deployments.ts';
import { useFakeEndpoint } from './fake-endpoint.ts';

const PLACE = { region: 'eu-central-1', stackName: 'reelay-main' };

describe('findStack', () => {
  let response: [status: number, body: string] = [200, ''];
  /** Answers before that response. */
  let pages: string[];
  const requests: string[] = [];
  useFakeEndpoint('AWS_ENDPOINT_URL_CLOUDFORMATION', async (request, reply) => {
    requests.push(await text(request));
    const [status, body] = response;
    reply.writeHead(status, { 'content-type': 'text/xml' }).end(pages.shift() ?? body);
  });
  beforeEach(() => {
    requests.length = 0;
    pages = [];
  });
  const stack = (content: string): [number, string] => [
    200,
    `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>reelay-main</StackName>${content}</member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
  ];
  const refusal = (code: string, message: string) =>
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

  it('reads the outputs of the stack', async () => {
    const output = (name: string, value: string) =>
      `<member><OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue></member>`;
    const outputs = `<Outputs>${output('Profile', 'hobby')}</Outputs>`;
    response = stack(`<StackStatus>UPDATE_ROLLBACK_COMPLETE</StackStatus>${outputs}`);
    expect(await findStack(PLACE)).toEqual({
      isComplete: true,
      isProtected: false,
      outputs: { Profile: 'hobby' },
    });
    expect(Object.fromEntries(new URLSearchParams(requests[0]))).toMatchObject({
      Action: 'DescribeStacks',
      StackName: 'reelay-main',
    });
  });

  it.each([
    ['An update is in progress for resource: arn:… (HandlerErrorCode: ResourceConflict)', '12:01', true],
    ['An update is in progress for resource: arn:… (HandlerErrorCode: ResourceConflict)', '11:59', false],
    ['The runtime is unknown (HandlerErrorCode: InvalidRequest)', '12:01', false],
  ])('knows whether a deployment has met another change of a function: %s at %s', async (reason, at, expected) => {
    const event = `<member><Timestamp>2026-11-27T${at}:00Z</Timestamp><ResourceStatusReason>${reason}</ResourceStatusReason></member>`;
    const events = `<StackEvents>${event}</StackEvents>`;
    response = [
      200,
      `<DescribeStackEventsResponse><DescribeStackEventsResult>${events}</DescribeStackEventsResult></DescribeStackEventsResponse>`,
    ];
    const since = new Date('2026-11-27T12:00:00Z');
    expect(await hasUpdateConflict(PLACE, since)).toBe(expected);
  });

  it('finds a conflict behind a page of events of the rollback', async () => {
    const events = (reason: string, more = '') =>
      `<DescribeStackEventsResponse><DescribeStackEventsResult><StackEvents><member><Timestamp>2026-11-27T12:01:00Z</Timestamp><ResourceStatusReason>${reason}</ResourceStatusReason></member></StackEvents>${more}</DescribeStackEventsResult></DescribeStackEventsResponse>`;
    pages = [events('Rollback requested by user', '<NextToken>next</NextToken>'), events('ResourceConflict')];
    expect(await hasUpdateConflict(PLACE, new Date('2026-11-27T12:00:00Z'))).toBe(true);
  });

  it('knows whether a stack is protected, and the table that stays; and removes the protection', async () => {
    const table = '<member><OutputKey>RetainedTable</OutputKey><OutputValue>kept</OutputValue></member>';
    const content = `<EnableTerminationProtection>true</EnableTerminationProtection><Outputs>${table}</Outputs>`;
    response = stack(`<StackStatus>CREATE_COMPLETE</StackStatus>${content}`);
    expect(await findStack(PLACE)).toMatchObject({
      isProtected: true,
      outputs: { RetainedTable: 'kept' },
    });
    response = [200, '<UpdateTerminationProtectionResponse/>'];
    await unprotect(PLACE);
    expect(Object.fromEntries(new URLSearchParams(requests[1]))).toMatchObject({
      Action: 'UpdateTerminationProtection',
      StackName: 'reelay-main',
      EnableTerminationProtection: 'false',
    });
  });

  it.each(['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE'])('knows a stack in %s as never complete', async (status) => {
    response = stack(`<StackStatus>${status}</StackStatus>`);
    expect(await findStack(PLACE)).toMatchObject({ isComplete: false });
  });

  it.each([
    ['hnb659fds', '6', undefined, true],
    ['hnb659fds', '5', undefined, false],
    ['hnb659fds', '21', 'mine', false],
    ['mine', '21', 'mine', true],
  ])(
    'looks for a bootstrap that can be used: %s in version %s for %s',
    async (qualifier, version, wanted, expected) => {
      response = stack(
        `<Parameters><member><ParameterKey>Qualifier</ParameterKey><ParameterValue>${qualifier}</ParameterValue></member></Parameters>
       <Outputs><member><OutputKey>BootstrapVersion</OutputKey><OutputValue>${version}</OutputValue></member></Outputs>`,
      );
      expect(await isBootstrapped(PLACE, wanted)).toBe(expected);
    },
  );

  it('returns undefined while the stack is not deployed', async () => {
    response = [400, refusal('ValidationError', 'Stack with id reelay-main does not exist')];
    expect(await findStack(PLACE)).toBeUndefined();
  });

  it('rejects when AWS denies access', async () => {
    response = [403, refusal('AccessDenied', 'Not authorized to perform cloudformation:DescribeStacks')];
    await expect(findStack(PLACE)).rejects.toThrow(/Not authorized/);
  });

  it.each(PROFILE_NAMES)('finds what it reads in the stack of %s', (name) => {
    expect(template(name)).toMatchObject({ Outputs: { Profile: { Value: name } } });
  });
});

describe('EVERY_STACK', () =>
  it.each([
    { profile: 'team', maxTasks: '1' },
    { profile: 'team', minTasks: '3', maxTasks: '3' },
    { profile: 'public', minTasks: '30', maxTasks: '40' },
    { profile: 'hobby', idleMinutes: '5', entriesAtOnce: '2' },
    { profile: 'hobby', pricingPlan: 'pro', resolverConcurrency: '9', entriesAtOnce: '8' },
  ])('finds the stacks of %j', (context) => {
    expect(() => profileOf(readContext(context))).not.toThrow();
    expect(profileOf(readContext({ ...context, ...EVERY_STACK }))).toHaveProperty('firewall');
  }));
