import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isBootstrapped } from '../../../infra/cli/bootstrap.ts';

const PLACE = { account: '111111111111', region: 'eu-central-1', bucket: 'cdk-assets' };

describe('isBootstrapped', () => {
  let status = 200;
  const asked: (string | undefined)[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers['x-amz-expected-bucket-owner']}`);
    response.writeHead(status).end();
  });

  beforeEach(async () => {
    asked.length = 0;
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    vi.stubEnv('AWS_ENDPOINT_URL_S3', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'an-id');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret');
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });

  it.each([
    [200, true],
    [404, false],
  ])('classifies status %i as %s', async (answer, expected) => {
    status = answer;
    expect(await isBootstrapped(PLACE)).toBe(expected);
    expect(asked).toEqual(['HEAD /cdk-assets/ 111111111111']);
  });

  it('rejects when AWS denies access', async () => {
    status = 403;
    await expect(isBootstrapped(PLACE)).rejects.toThrow();
  });
});
