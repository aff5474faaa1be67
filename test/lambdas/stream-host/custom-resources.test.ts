import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import { createOriginSecret, createStopTasks } from '../../../lambdas/stream-host/custom-resources.ts';
import { createStreamTasks } from '../../../lambdas/stream-host/stream-tasks.ts';
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
    ...(RequestType !== 'Create' && { PhysicalResourceId: 'thing' }),
    ResourceProperties: { subnets: 'subnet-1,subnet-2', rotation: 'initial', ...properties },
  }) as unknown as CloudFormationCustomResourceEvent;
const contextOf = (milliseconds: number) => ({ getRemainingTimeInMillis: () => milliseconds });

describe('createStopTasks', () => {
  const stopTasks = () =>
    createStopTasks({
      tasks: createStreamTasks({ ecs: fixture.aws.ecs, cluster: 'stream' }),
      log: silentLog,
      pollIntervalMs: 1,
    });

  it('stops every task and waits until each has released its network interface', async () => {
    await fixture.wakeAhead();
    const [task] = fixture.aws.tasks;
    if (!task) throw new Error('No task was started');
    const others = [structuredClone(task), structuredClone(task)].map((other, at) =>
      Object.assign(other, { taskArn: `arn:task/${at}`, lastStatus: 'RUNNING' }),
    );
    fixture.aws.tasks.push(...others);
    let looks = 0;
    fixture.aws.interfere = (operation) => {
      // Each poll finds one more task stopped.
      const [ending] = fixture.aws.tasks.filter(
        ({ desiredStatus, lastStatus }) => desiredStatus === 'STOPPED' && lastStatus !== 'STOPPED',
      );
      if (operation === 'ListTasks' && looks++ % 4 === 3 && ending) ending.lastStatus = 'STOPPED';
      return undefined;
    };
    await stopTasks()(eventOf('Delete'), contextOf(60_000));
    expect(answers).toEqual([expect.objectContaining({ Status: 'SUCCESS', PhysicalResourceId: 'thing' })]);
    expect(fixture.aws.tasks.map(({ lastStatus }) => lastStatus)).toEqual(['STOPPED', 'STOPPED', 'STOPPED']);
    expect(fixture.aws.calls.filter((call) => call === 'StopTask')).toHaveLength(3);
  });

  it('keeps the tasks of a service, which serve while a change of profile deletes the on-demand host', async () => {
    await fixture.wakeAhead();
    const [woken] = fixture.aws.tasks;
    if (!woken) throw new Error('No task was started');
    const service = {
      ...structuredClone(woken),
      taskArn: 'arn:task/service',
      startedBy: 'ecs-svc/1234567890123456789',
    };
    fixture.aws.tasks.push(Object.assign(service, { lastStatus: 'RUNNING' }));
    fixture.aws.interfere = () => {
      if (woken.desiredStatus === 'STOPPED') woken.lastStatus = 'STOPPED';
      return undefined;
    };
    await stopTasks()(eventOf('Delete'), contextOf(60_000));
    expect(answers).toEqual([expect.objectContaining({ Status: 'SUCCESS' })]);
    expect([woken.lastStatus, service.lastStatus, service.desiredStatus]).toEqual(['STOPPED', 'RUNNING', 'RUNNING']);
    expect(fixture.aws.calls.filter((call) => call === 'StopTask')).toHaveLength(1);
  });

  it('stops only the tasks in its subnets: a change of zones replaces it and deletes the one of the former subnets', async () => {
    await fixture.wakeAhead();
    const [former] = fixture.aws.tasks;
    if (!former) throw new Error('No task was started');
    fixture.aws.run(former);
    former.attachments[0]?.details.push({ name: 'subnetId', value: 'subnet-1' });
    const current = Object.assign(structuredClone(former), { taskArn: 'arn:task/current' });
    current.attachments[0]?.details.splice(1, 1, { name: 'subnetId', value: 'subnet-3' });
    fixture.aws.tasks.push(current);
    fixture.aws.interfere = () => {
      if (former.desiredStatus === 'STOPPED') former.lastStatus = 'STOPPED';
      return undefined;
    };
    await stopTasks()(eventOf('Update', { subnets: 'subnet-2,subnet-3' }), contextOf(60_000));
    expect(answers).toEqual([expect.objectContaining({ PhysicalResourceId: 'stop-tasks subnet-2,subnet-3' })]);
    await stopTasks()(eventOf('Delete'), contextOf(60_000));
    expect([former.lastStatus, current.lastStatus, current.desiredStatus]).toEqual(['STOPPED', 'RUNNING', 'RUNNING']);
  });

  it('responds at once when nothing runs', async () => {
    await stopTasks()(eventOf('Delete'), contextOf(60_000));
    expect(answers).toEqual([expect.objectContaining({ Status: 'SUCCESS' })]);
    expect(fixture.aws.calls).not.toContain('StopTask');
  });

  it('responds FAILED before its timeout when a task does not end', async () => {
    await fixture.wakeAhead();
    await stopTasks()(eventOf('Delete'), contextOf(10_100));
    expect(answers).toEqual([expect.objectContaining({ Status: 'FAILED', PhysicalResourceId: 'thing' })]);
  });

  it.each(['Create', 'Update'] as const)('stops nothing on %s', async (type) => {
    await fixture.wakeAhead();
    await stopTasks()(eventOf(type), contextOf(60_000));
    expect(answers).toEqual([
      expect.objectContaining({ Status: 'SUCCESS', PhysicalResourceId: 'stop-tasks subnet-1,subnet-2' }),
    ]);
    expect(fixture.aws.calls).not.toContain('StopTask');
  });
});

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
