import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { profileConflict, readDeployedProfile } from '../../../infra/cli/deployed-profile.ts';
import { PROFILE_NAMES, template } from '../deployments.ts';
import { onlyResource } from '../template.ts';

describe('readDeployedProfile', () => {
  let response: [status: number, body: string];
  const requests: string[] = [];
  const server = createServer(async (request, reply) => {
    requests.push(await text(request));
    reply.writeHead(response[0], { 'content-type': 'text/xml' }).end(response[1]);
  });
  const vpcs = (items: string): [number, string] => [
    200,
    `<DescribeVpcsResponse><vpcSet>${items}</vpcSet></DescribeVpcsResponse>`,
  ];

  beforeEach(async () => {
    requests.length = 0;
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    vi.stubEnv('AWS_ENDPOINT_URL_EC2', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'an-id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret');
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  it('reads the tag of the VPC of the stack', async () => {
    const tag = '<item><key>reelay:profile</key><value>hobby</value></item>';
    response = vpcs(`<item><vpcId>vpc-1</vpcId><tagSet>${tag}</tagSet></item>`);
    expect(await readDeployedProfile('reelay-main', 'eu-central-1')).toBe('hobby');
    expect(Object.fromEntries(new URLSearchParams(requests[0]))).toMatchObject({
      Action: 'DescribeVpcs',
      'Filter.1.Name': 'tag:aws:cloudformation:stack-name',
      'Filter.1.Value.1': 'reelay-main',
    });
  });

  it('returns undefined while the stack is not deployed', async () => {
    response = vpcs('');
    expect(await readDeployedProfile('reelay-main', 'eu-central-1')).toBeUndefined();
  });

  it('rejects when AWS denies access', async () => {
    response = [403, '<Response><Errors><Error><Code>UnauthorizedOperation</Code></Error></Errors></Response>'];
    await expect(readDeployedProfile('reelay-main', 'eu-central-1')).rejects.toThrow();
  });

  it.each(PROFILE_NAMES)('finds the tag on the VPC of %s', (name) => {
    const tags = onlyResource(template(name), 'AWS::EC2::VPC').Tags;
    expect(tags).toContainEqual({ Key: 'reelay:profile', Value: name });
  });
});

describe('profileConflict', () => {
  it.each([undefined, 'team'])('accepts the default profile over %s', (deployed) =>
    expect(profileConflict(deployed, 'team')).toBeUndefined(),
  );

  it.each(['hobby', 'public'])('names both options when %s is deployed', (deployed) =>
    expect(profileConflict(deployed, 'team')).toMatch(new RegExp(`-c profile=${deployed} .* -c profile=team `)),
  );
});
