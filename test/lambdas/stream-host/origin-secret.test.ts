import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { createOriginSecret } from '../../../lambdas/origin-secret.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { type OnDemandFixture, startOnDemandFixture } from './on-demand-fixture.ts';

let fixture: OnDemandFixture;
/** The presigned URL of the responses. */
let url: string;
let answers: Record<string, unknown>[];
beforeEach(async () => {
  fixture = await startOnDemandFixture();
  answers = [];
  const server = createServer(async (request, response) => {
    answers.push((await json(request)) as Record<string, unknown>);
    response.end();
  });
  url = closeAfterwards(await listen(server)).url;
});

const eventOf = (RequestType: 'Create' | 'Update' | 'Delete', properties: Record<string, string> = {}) =>
  ({
    RequestType,
    ResponseURL: url,
    StackId: 'stack',
    RequestId: 'request',
    LogicalResourceId: 'Thing',
    ...(RequestType !== 'Create' && { PhysicalResourceId: 'origin-secret' }),
    ResourceProperties: { rotation: 'initial', ...properties },
  }) as unknown as CloudFormationCustomResourceEvent;
const contextOf = (milliseconds: number) => ({ getRemainingTimeInMillis: () => milliseconds });

describe('createOriginSecret', () => {
  const provide = async (type: 'Create' | 'Update' | 'Delete', rotation = 'initial') => {
    await createOriginSecret({ state: fixture.state, log: silentLog })(eventOf(type, { rotation }), contextOf(60_000));
    return answers.at(-1)?.Data as { Secret: string; Accepted: string; Revision: string };
  };

  it('provides a random masked secret that is the same for every later deployment', async () => {
    for (const type of ['Create', 'Update', 'Update'] as const) await provide(type);
    const [first] = answers;
    const { Secret } = Object(first?.Data);
    expect(first).toMatchObject({
      Status: 'SUCCESS',
      PhysicalResourceId: 'origin-secret',
      NoEcho: true,
      Data: { Secret: expect.stringMatching(/^[\w-]{43}$/), Accepted: Secret },
    });
    expect(answers).toEqual([first, first, first]);
  });

  it('keeps the secret in the table when the resource is replaced or deleted', async () => {
    for (const type of ['Create', 'Delete', 'Create'] as const) await provide(type);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('changes with the rotation, and accepts the previous one until the next rotation', async () => {
    const first = await provide('Create');
    const second = await provide('Update', '2026-11');
    expect(second.Accepted).toBe(`${second.Secret},${first.Secret}`);
    expect(second.Secret).not.toBe(first.Secret);
    expect(second.Revision).not.toBe(first.Revision);
    expect(await provide('Update', '2026-11')).toEqual(second);
    const third = await provide('Update', '2026-12');
    expect(third.Accepted).toBe(`${third.Secret},${second.Secret}`);
  });

  it('returns to the previous secret in a rollback, and accepts both', async () => {
    const first = await provide('Create');
    const second = await provide('Update', '2026-11');
    const rolledBack = await provide('Update');
    expect(rolledBack.Secret).toBe(first.Secret);
    expect(rolledBack.Accepted).toBe(`${first.Secret},${second.Secret}`);
    expect((await provide('Update', '2026-11')).Secret).toBe(second.Secret);
  });
});
