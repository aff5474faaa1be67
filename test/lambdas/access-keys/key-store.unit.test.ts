import { CloudFrontKeyValueStoreClient } from '@aws-sdk/client-cloudfront-keyvaluestore';
import { describe, expect, it } from 'vitest';
import { createKeyStore } from '../../../lambdas/access-keys.ts';

const ARN = 'arn:aws:cloudfront::111111111111:key-value-store/a';

/** The client with an answer for each command by its name. */
function createFixture(answers: Record<string, (input: Record<string, unknown>) => object>) {
  const sent: [string, Record<string, unknown>][] = [];
  const client = new CloudFrontKeyValueStoreClient({ region: 'us-east-1' });
  client.send = async (command: { constructor: { name: string }; input: object }) => {
    const name = command.constructor.name.replace(/^_|Command$/g, '');
    sent.push([name, { ...command.input }]);
    return answers[name]?.({ ...command.input }) as never;
  };
  return { sent, store: createKeyStore({ client, storeArn: ARN, prefix: 'access-' }) };
}

describe('createKeyStore', () => {
  it('reads the entries with its prefix from all pages', async () => {
    const { store } = createFixture({
      ListKeys: ({ NextToken }) =>
        NextToken
          ? { Items: [{ Key: 'access-b', Value: '2' }] }
          : {
              Items: [
                { Key: 'host', Value: 'x' },
                { Key: 'access-a', Value: '1' },
              ],
              NextToken: 'next',
            },
    });
    expect(Object.fromEntries(await store.entries())).toEqual({ a: '1', b: '2' });
  });

  it('writes 50 changes at a time, each to the version that the one before has left', async () => {
    let version = 1;
    const { store, sent } = createFixture({
      DescribeKeyValueStore: () => ({ ETag: 'v1' }),
      UpdateKeys: () => {
        version += 1;
        return { ETag: `v${version}` };
      },
    });
    await store.change(new Map(Array.from({ length: 60 }, (_, index) => [`p${index}`, 'h'])), ['gone']);
    const updates = sent.filter(([name]) => name === 'UpdateKeys').map(([, input]) => input);
    expect(updates.map(({ IfMatch, Puts, Deletes }) => [IfMatch, (Puts as []).length, Deletes])).toEqual([
      ['v1', 50, []],
      ['v2', 10, [{ Key: 'access-gone' }]],
    ]);
    expect(updates[0]).toMatchObject({ Puts: expect.arrayContaining([{ Key: 'access-p0', Value: 'h' }]) });
  });
});
