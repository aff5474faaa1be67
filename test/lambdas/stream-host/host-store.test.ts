import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { expect, it } from 'vitest';
import { createHostStore } from '../../../lambdas/stream-host/host.ts';

it('createHostStore signs its requests with SigV4A, which the service requires', async () => {
  const signatures: unknown[] = [];
  const client = new CloudFrontKeyValueStoreClient({
    region: 'eu-central-1',
    credentials: { accessKeyId: 'an-id', secretAccessKey: 'a-secret' },
    maxAttempts: 1,
    requestHandler: {
      handle: async ({ headers }: { headers: Record<string, string> }) => {
        signatures.push(headers.authorization);
        throw new Error('Connection refused');
      },
    },
  });
  const storeArn = 'arn:aws:cloudfront::111111111111:key-value-store/0a1b2c3d-0000-1111-2222-333344445555';
  const store = createHostStore({ client, storeArn, key: 'host' });
  await expect(store.read()).rejects.toThrow('Connection refused');
  await expect(store.write('a')).rejects.toThrow('Connection refused');
  expect(signatures).toEqual(Array(2).fill(expect.stringMatching(/^AWS4-ECDSA-P256-SHA256 Credential=an-id/)));
});
