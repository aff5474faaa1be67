import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { type CustomResourceOptions, customResource, type ResourceRequest } from '../../../lambdas/custom-resource.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';

/** The presigned URL of the responses, and the bodies that were sent to it. */
let puts: { method: string | undefined; type: string | undefined; body: string }[];
/** Statuses of the next responses; 0 closes the connection. */
let refusals: number[];
const server = createServer(async (incoming, response) => {
  puts.push({ method: incoming.method, type: incoming.headers['content-type'], body: await text(incoming) });
  const refusal = refusals.shift();
  if (refusal === 0) response.destroy();
  else response.writeHead(refusal ?? 200).end();
});
const url = `${closeAfterwards(await listen(server)).url}/answer?X-Amz-Signature=secret`;
beforeEach(() => {
  puts = [];
  refusals = [];
});

const ids = { StackId: 'stack', RequestId: 'request', LogicalResourceId: 'Thing' };
const event = (RequestType: string, more: object = {}) =>
  ({
    ...ids,
    RequestType,
    ResponseURL: url,
    ServiceToken: 'arn:function',
    ResourceType: 'Custom::Thing',
    ResourceProperties: { ServiceToken: 'arn:function', Color: 'blue' },
    ...(RequestType !== 'Create' && { PhysicalResourceId: 'other' }),
    ...more,
  }) as CloudFormationCustomResourceEvent;
const made = async () => ({});
const ask = (options: Partial<CustomResourceOptions>, asked: CloudFormationCustomResourceEvent, remaining = 60_000) =>
  customResource({ physicalId: 'thing', provide: made, remove: made, log: silentLog, backoffMs: 1, ...options })(
    asked,
    {
      getRemainingTimeInMillis: () => remaining,
    },
  );
const answer = () => JSON.parse(puts.at(-1)?.body ?? '');

describe('customResource', () => {
  it('responds SUCCESS with the physical id and data', async () => {
    await ask({ provide: async () => ({ Data: { Arn: 'arn' } }) }, event('Create'));
    expect(puts).toHaveLength(1);
    expect(puts[0]).toMatchObject({ method: 'PUT', type: '' });
    expect(answer()).toEqual({ Status: 'SUCCESS', ...ids, PhysicalResourceId: 'thing', Data: { Arn: 'arn' } });
  });

  it('sets NoEcho for secret data', async () => {
    await ask({ provide: async () => ({ Data: { Secret: 's' }, NoEcho: true }) }, event('Create'));
    expect(answer()).toMatchObject({ NoEcho: true, Data: { Secret: 's' } });
  });

  it.each([
    ['Create', 'thing', [1, 0]],
    ['Update', 'other', [1, 0]],
    ['Delete', 'other', [0, 1]],
  ])(
    'at %s passes the properties of the template, and responds with the physical id, the reason where it fails',
    async (type, PhysicalResourceId, calls) => {
      const provide = vi.fn(async (_: ResourceRequest) => ({}));
      const remove = vi.fn(made);
      await ask({ provide, remove }, event(type));
      expect([provide, remove].map(({ mock }) => mock.calls.length)).toEqual(calls);
      for (const [{ properties }] of provide.mock.calls) expect(properties).toEqual({ Color: 'blue' });
      expect(answer()).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId });

      const fail = () => Promise.reject(new Error('Access denied\nat line 1'));
      await ask({ provide: fail, remove: fail }, event(type));
      expect(answer()).toEqual({ Status: 'FAILED', ...ids, PhysicalResourceId, Reason: 'Access denied' });
    },
  );

  it('reduces URLs in the reason to host and path', async () => {
    const reason = `It could not get https://user:pass@host.example/file?token=abc with ${url}`;
    await ask({ provide: () => Promise.reject(new Error(reason, { cause: 'the cause' })) }, event('Create'));
    expect(answer().Reason).toContain('https://host.example/file');
    expect(puts[0]?.body).not.toMatch(/pass|abc|secret|cause/);
  });

  it.each([
    ['a thrown string', () => Promise.reject('text'), 'text'],
    ['an error without a message', () => Promise.reject(new Error('')), 'Unknown error'],
    ['a long message, cut to 500 characters', () => Promise.reject(new Error('é'.repeat(50_000))), 'é'.repeat(500)],
  ])('responds FAILED with a reason: %s', async (_, provide, reason) => {
    await ask({ provide }, event('Create'));
    expect(answer()).toMatchObject({ Status: 'FAILED', Reason: reason });
    expect(Buffer.byteLength(puts[0]?.body ?? '')).toBeLessThanOrEqual(4096);
  });

  it('aborts the work and responds before the function times out', async () => {
    let told: AbortSignal | undefined;
    const never = ({ signal }: ResourceRequest) => {
      told = signal;
      return new Promise<never>(() => undefined);
    };
    await ask({ provide: never }, event('Create'), 10_010);
    expect(answer()).toMatchObject({ Status: 'FAILED', Reason: expect.stringMatching(/timeout/) });
    expect(told?.aborted).toBe(true);
  });

  it('retries a response that is refused or lost', async () => {
    refusals = [503, 0];
    await ask({}, event('Create'));
    expect(puts.map(({ body }) => JSON.parse(body).Status)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
  });

  it('throws when no response is accepted, without the presigned URL in the message', async () => {
    refusals = [403, 403, 403];
    const failure = ask({}, event('Create'));
    await expect(failure).rejects.toThrow(/response: status 403/);
    await expect(failure).rejects.not.toThrow(/secret/);
    expect(puts).toHaveLength(3);
  });
});
