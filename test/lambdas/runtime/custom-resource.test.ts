import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import {
  type CustomResourceOptions,
  customResource,
  type ResourceRequest,
} from '../../../lambdas/runtime/custom-resource.ts';

/** Where CloudFormation waits for answers, and what it got. */
let puts: { method: string | undefined; type: string | undefined; body: string }[];
/** Statuses before it takes one; 0 breaks the connection. */
let refusals: number[];
const server = createServer(async (incoming, response) => {
  puts.push({ method: incoming.method, type: incoming.headers['content-type'], body: await text(incoming) });
  const refusal = refusals.shift();
  if (refusal === 0) response.destroy();
  else response.writeHead(refusal ?? 200).end();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/answer?X-Amz-Signature=secret`;
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
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
    ...(RequestType !== 'Create' && { PhysicalResourceId: 'thing' }),
    ...more,
  }) as CloudFormationCustomResourceEvent;
const made = async () => ({ physicalId: 'thing' });
const ask = (options: Partial<CustomResourceOptions>, asked: CloudFormationCustomResourceEvent, remaining = 60_000) =>
  customResource({ create: made, update: made, delete: made, log: silentLog, backoffMs: 1, ...options })(asked, {
    getRemainingTimeInMillis: () => remaining,
  });
const answer = () => JSON.parse(puts.at(-1)?.body ?? '');

describe('customResource', () => {
  it('answers what was created, with its data', async () => {
    await ask({ create: async () => ({ physicalId: 'thing', data: { Arn: 'arn' } }) }, event('Create'));
    expect(puts).toHaveLength(1);
    expect(puts[0]).toMatchObject({ method: 'PUT', type: '' });
    expect(answer()).toEqual({ Status: 'SUCCESS', ...ids, PhysicalResourceId: 'thing', Data: { Arn: 'arn' } });
  });

  it('marks data that nobody may see', async () => {
    await ask({ create: async () => ({ physicalId: 'thing', data: { Secret: 's' }, noEcho: true }) }, event('Create'));
    expect(answer()).toMatchObject({ NoEcho: true, Data: { Secret: 's' } });
  });

  it.each(['create', 'update', 'delete'] as const)('hands %s what the template says', async (name) => {
    const seen = vi.fn(async (_: ResourceRequest) => ({ physicalId: 'thing' }));
    const type = name[0]?.toUpperCase() + name.slice(1);
    await ask({ [name]: seen }, event(type));
    expect(seen).toHaveBeenCalledOnce();
    expect(seen.mock.calls[0]?.[0]).toMatchObject({ properties: { Color: 'blue' }, stackId: 'stack' });
    expect(seen.mock.calls[0]?.[0].properties).not.toHaveProperty('ServiceToken');
    expect(seen.mock.calls[0]?.[0].physicalId).toBe(name === 'create' ? undefined : 'thing');
    expect(answer()).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'thing' });
  });

  it.each([
    ['Create', 'not-created'],
    ['Update', 'thing'],
    ['Delete', 'thing'],
  ])('tells a failed %s with a reason, and the id it has', async (type, id) => {
    const fail = () => Promise.reject(new Error('Access denied\nat line 1'));
    await ask({ create: fail, update: fail, delete: fail }, event(type));
    expect(answer()).toEqual({ Status: 'FAILED', ...ids, PhysicalResourceId: id, Reason: 'Access denied' });
  });

  it('tells what links carry to nobody', async () => {
    const reason = `It could not get https://user:pass@host.example/file?token=abc with ${url}`;
    await ask({ create: () => Promise.reject(new Error(reason, { cause: 'the cause' })) }, event('Create'));
    expect(answer().Reason).toContain('https://host.example/file');
    expect(puts[0]?.body).not.toMatch(/pass|abc|secret|cause/);
  });

  it.each([
    ['what is no error', () => Promise.reject('text'), 'text'],
    ['an error without words', () => Promise.reject(new Error('')), 'It failed'],
    ['an error without measure', () => Promise.reject(new Error('é'.repeat(50_000))), 'é'.repeat(500)],
  ])('tells %s', async (_, create, reason) => {
    await ask({ create }, event('Create'));
    expect(answer()).toMatchObject({ Status: 'FAILED', Reason: reason });
    expect(Buffer.byteLength(puts[0]?.body ?? '')).toBeLessThanOrEqual(4096);
  });

  it('fails rather than send more than CloudFormation takes', async () => {
    await ask({ create: async () => ({ physicalId: 'thing', data: { Arn: 'x'.repeat(5000) } }) }, event('Create'));
    expect(answer()).toMatchObject({ Status: 'FAILED', Reason: expect.stringMatching(/more than 4096 bytes/) });
  });

  it('fails a request of no kind', async () => {
    await ask({}, event('Rename'));
    expect(answer()).toMatchObject({ Status: 'FAILED' });
  });

  it('answers before the function is killed, and tells the work to end', async () => {
    let told: AbortSignal | undefined;
    const never = ({ signal }: ResourceRequest) => {
      told = signal;
      return new Promise<never>(() => undefined);
    };
    await ask({ create: never }, event('Create'), 10_010);
    expect(answer()).toMatchObject({ Status: 'FAILED', Reason: 'It took too long' });
    expect(told?.aborted).toBe(true);
  });

  it('answers again when the answer is refused or lost', async () => {
    refusals = [503, 0];
    await ask({}, event('Create'));
    expect(puts.map(({ body }) => JSON.parse(body).Status)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
  });

  it('throws when no answer is taken, so that Lambda asks again, and names no secret', async () => {
    refusals = [403, 403, 403];
    const failure = ask({}, event('Create'));
    await expect(failure).rejects.toThrow(/not taken: status 403/);
    await expect(failure).rejects.not.toThrow(/secret/);
    expect(puts).toHaveLength(3);
  });
});
