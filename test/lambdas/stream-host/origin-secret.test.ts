import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { createOriginSecret } from '../../../lambdas/origin-secret.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { openTemporaryState } from '../../support/temporary-state.ts';

type Answer = Readonly<Record<string, unknown>> & {
  readonly Data: { Secret: string };
};

/** CloudFormation's requests for one resource: its type and rotation, and the answer to it. */
async function createFixture() {
  const answers: Answer[] = [];
  const server = createServer(async (request, response) => {
    answers.push((await json(request)) as Answer);
    response.end();
  });
  const { url: ResponseURL } = closeAfterwards(await listen(server));
  const { state } = closeAfterwards(await openTemporaryState());
  const handle = createOriginSecret({ state, log: silentLog });
  const request = async (RequestType: 'Create' | 'Update' | 'Delete', rotation = 'initial') => {
    const ids = { ResponseURL, StackId: 'stack', RequestId: 'request', LogicalResourceId: 'Thing' };
    const known = RequestType !== 'Create' && { PhysicalResourceId: 'origin-secret' };
    const event = { RequestType, ...ids, ...known, ResourceProperties: { rotation } };
    await handle(event as unknown as CloudFormationCustomResourceEvent, { getRemainingTimeInMillis: () => 60_000 });
    return answers.at(-1) as Answer;
  };
  return { request, accepted: state.getOriginSecrets };
}

it('provides a random masked secret that is the same in every later deployment, also of a resource that was deleted', async () => {
  const { request } = await createFixture();
  const first = await request('Create');
  expect(first).toMatchObject({
    Status: 'SUCCESS',
    PhysicalResourceId: 'origin-secret',
    NoEcho: true,
    Data: { Secret: expect.stringMatching(/^[\w-]{43}$/) },
  });
  for (const type of ['Update', 'Update'] as const) expect(await request(type)).toEqual(first);
  await request('Delete');
  expect(await request('Create')).toEqual(first);
});

it('changes it with the rotation and accepts the previous one, also after a rollback, until the next rotation', async () => {
  const { request, accepted } = await createFixture();
  const { Data: first } = await request('Create');
  expect(await accepted()).toEqual([first.Secret]);
  const { Data: second } = await request('Update', '2026-11');
  expect(await accepted()).toEqual([second.Secret, first.Secret]);
  expect(second.Secret).not.toBe(first.Secret);
  expect((await request('Update')).Data).toEqual(first);
  expect(await accepted()).toEqual([first.Secret, second.Secret]);
  for (const _ of ['again', 'repeated']) expect((await request('Update', '2026-11')).Data).toEqual(second);
  const { Data: third } = await request('Update', '2026-12');
  expect(await accepted()).toEqual([third.Secret, second.Secret]);
});
