import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  findProfileConflict,
  hasMetConflict,
  readDeployedSettings,
  unprotect,
} from '../../../infra/cli/deployed-settings.ts';
import { PROFILE_NAMES, template } from '../deployments.ts';
import { useFakeEndpoint } from './fake-endpoint.ts';

describe('readDeployedSettings', () => {
  let response: [status: number, body: string];
  const requests: string[] = [];
  useFakeEndpoint('AWS_ENDPOINT_URL_CLOUDFORMATION', async (request, reply) => {
    requests.push(await text(request));
    reply.writeHead(response[0], { 'content-type': 'text/xml' }).end(response[1]);
  });
  beforeEach(() => {
    requests.length = 0;
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
    expect(await readDeployedSettings('reelay-main', 'eu-central-1')).toEqual({
      profile: 'hobby',
      isComplete: true,
    });
    expect(Object.fromEntries(new URLSearchParams(requests[0]))).toMatchObject({
      Action: 'DescribeStacks',
      StackName: 'reelay-main',
    });
  });

  it('returns the settings of a stack without outputs as unknown', async () => {
    response = stack('<StackStatus>CREATE_COMPLETE</StackStatus>');
    expect(await readDeployedSettings('reelay-main', 'eu-central-1')).toEqual({ isComplete: true });
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
    expect(await hasMetConflict('reelay-main', 'eu-central-1', since)).toBe(expected);
  });

  it('knows whether a stack is protected, and the table that stays; and removes the protection', async () => {
    const table = '<member><OutputKey>RetainedTable</OutputKey><OutputValue>kept</OutputValue></member>';
    const content = `<EnableTerminationProtection>true</EnableTerminationProtection><Outputs>${table}</Outputs>`;
    response = stack(`<StackStatus>CREATE_COMPLETE</StackStatus>${content}`);
    expect(await readDeployedSettings('reelay-main', 'eu-central-1')).toMatchObject({
      isProtected: true,
      retainedTable: 'kept',
    });
    response = [200, '<UpdateTerminationProtectionResponse/>'];
    await unprotect('reelay-main', 'eu-central-1');
    expect(Object.fromEntries(new URLSearchParams(requests[1]))).toMatchObject({
      Action: 'UpdateTerminationProtection',
      StackName: 'reelay-main',
      EnableTerminationProtection: 'false',
    });
  });

  it.each(['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE'])('knows a stack in %s as never complete', async (status) => {
    response = stack(`<StackStatus>${status}</StackStatus>`);
    expect(await readDeployedSettings('reelay-main', 'eu-central-1')).toEqual({ isComplete: false });
  });

  it('returns undefined while the stack is not deployed', async () => {
    response = [400, refusal('ValidationError', 'Stack with id reelay-main does not exist')];
    expect(await readDeployedSettings('reelay-main', 'eu-central-1')).toBeUndefined();
  });

  it('rejects when AWS denies access', async () => {
    response = [403, refusal('AccessDenied', 'Not authorized to perform cloudformation:DescribeStacks')];
    await expect(readDeployedSettings('reelay-main', 'eu-central-1')).rejects.toThrow(/Not authorized/);
  });

  it.each(PROFILE_NAMES)('finds what it reads in the stack of %s', (name) => {
    expect(template(name)).toMatchObject({ Outputs: { Profile: { Value: name } } });
  });
});

describe('findProfileConflict', () => {
  const complete = { isComplete: true };

  it.each([undefined, { isComplete: false }, { ...complete, profile: 'team' }])(
    'accepts the default over %j',
    (deployed) => expect(findProfileConflict(deployed, 'team')).toBeUndefined(),
  );

  it.each(['hobby', 'public'])('names both options when %s is deployed', (profile) =>
    expect(findProfileConflict({ ...complete, profile }, 'team')).toMatch(
      new RegExp(`add -c profile=${profile} .* -c profile=team `),
    ),
  );

  it('asks for the profile of a stack that does not tell it', () =>
    expect(findProfileConflict(complete, 'team')).toMatch(/does not tell its profile.* add -c profile=/));
});
