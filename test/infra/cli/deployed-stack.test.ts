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
import { refusalXml, stackXml, useFakeEndpoint } from './fake-endpoint.ts';

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
  const stack = (outputs: Record<string, string>, more?: string): [number, string] => [200, stackXml(outputs, more)];
  const status = (name: string, more = '') => `<StackStatus>${name}</StackStatus>${more}`;
  /** Of events, all of one minute. */
  const events = (reason: string, at = '12:01', more = '') =>
    `<DescribeStackEventsResponse><DescribeStackEventsResult><StackEvents><member><Timestamp>2026-11-27T${at}:00Z</Timestamp><ResourceStatusReason>${reason}</ResourceStatusReason></member></StackEvents>${more}</DescribeStackEventsResult></DescribeStackEventsResponse>`;

  it('reads the outputs of the stack', async () => {
    response = stack({ Profile: 'hobby' }, status('UPDATE_ROLLBACK_COMPLETE'));
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
    response = [200, events(reason, at)];
    const since = new Date('2026-11-27T12:00:00Z');
    expect(await hasUpdateConflict(PLACE, since)).toBe(expected);
  });

  it('finds a conflict behind a page of events of the rollback', async () => {
    pages = [events('Rollback requested by user', '12:01', '<NextToken>next</NextToken>'), events('ResourceConflict')];
    expect(await hasUpdateConflict(PLACE, new Date('2026-11-27T12:00:00Z'))).toBe(true);
  });

  it('knows whether a stack is protected, and the table that stays; and removes the protection', async () => {
    const isProtected = '<EnableTerminationProtection>true</EnableTerminationProtection>';
    response = stack({ RetainedTable: 'kept' }, status('CREATE_COMPLETE', isProtected));
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

  it.each(['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE'])('knows a stack in %s as never complete', async (name) => {
    response = stack({}, status(name));
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
      const parameter = `<member><ParameterKey>Qualifier</ParameterKey><ParameterValue>${qualifier}</ParameterValue></member>`;
      response = stack({ BootstrapVersion: version }, `<Parameters>${parameter}</Parameters>`);
      expect(await isBootstrapped(PLACE, wanted)).toBe(expected);
    },
  );

  it('returns undefined while the stack is not deployed', async () => {
    response = [400, refusalXml()];
    expect(await findStack(PLACE)).toBeUndefined();
  });

  it('rejects when AWS denies access', async () => {
    response = [403, refusalXml('AccessDenied', 'Not authorized to perform cloudformation:DescribeStacks')];
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
