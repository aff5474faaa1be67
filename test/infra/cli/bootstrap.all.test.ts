import { beforeEach, describe, expect, it } from 'vitest';
import { isBootstrapped } from '../../../infra/cli/bootstrap.ts';
import { useFakeEndpoint } from './fake-endpoint.ts';

const PLACE = { account: '111111111111', region: 'eu-central-1', bucket: 'cdk-assets' };

describe('isBootstrapped', () => {
  let status = 200;
  const asked: (string | undefined)[] = [];
  useFakeEndpoint('AWS_ENDPOINT_URL_S3', ({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers['x-amz-expected-bucket-owner']}`);
    response.writeHead(status).end();
  });
  beforeEach(() => {
    asked.length = 0;
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
