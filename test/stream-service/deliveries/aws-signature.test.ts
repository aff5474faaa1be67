import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { expect, it } from 'vitest';
import { encodeSegment, signRequest } from '../../../stream-service/deliveries/aws-signature.ts';

/** The hashes that the SDK's signer is given. */
const createSha256 = (secret?: string | Uint8Array) => {
  const hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array);
  return {
    update: (data: string | Uint8Array) => void hash.update(data),
    digest: async () => new Uint8Array(hash.digest()),
    reset: () => undefined,
  };
};

it.each([undefined, 'a token'])('signs as the SDK does, with the session token %j', async (sessionToken) => {
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', ...(sessionToken && { sessionToken }) };
  const path = `/bucket/${['A list (1)', "01 - It's ~ here! ü*.mp4"].map(encodeSegment).join('/')}`;
  const url = new URL(`https://storage.example:9000${path}?partNumber=2&uploadId=${encodeSegment('a+b/c=')}`);
  const date = new Date('2026-11-23T12:34:56.789Z');
  const request = { method: 'PUT', url, headers: { 'x-amz-checksum-sha256': 'abc=' }, body: Buffer.from('part') };
  const { authorization } = signRequest({ ...request, region: 'eu-west-1', date }, credentials);
  const signer = new SignatureV4({
    ...{ service: 's3', region: 'eu-west-1', credentials, uriEscapePath: false, applyChecksum: true },
    sha256: function Sha256(secret?: string | Uint8Array) {
      return createSha256(secret);
    } as never,
  });
  const signed = await signer.sign(
    {
      ...{ method: 'PUT', protocol: 'https:', hostname: 'storage.example', port: 9000, path, body: 'part' },
      query: { partNumber: '2', uploadId: 'a+b/c=' },
      headers: { host: url.host, 'x-amz-checksum-sha256': 'abc=' },
    },
    { signingDate: date },
  );
  expect(authorization).toBe(signed.headers.authorization);
});
