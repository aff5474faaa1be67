import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import { createOriginSecret } from '../../../lambdas/stream-host/origin-secret.ts';
import { createStopTasks } from '../../../lambdas/stream-host/stop-tasks.ts';
import { createStreamTasks } from '../../../lambdas/stream-host/stream-tasks.ts';
import { type OnDemandFixture, startOnDemandFixture } from './on-demand-fixture.ts';

let fixture: OnDemandFixture;
/** The presigned URL of the responses. */
let server: Server;
let answers: Record<string, unknown>[];
beforeEach(async () => {
  fixture = await startOnDemandFixture();
  answers = [];
  server = createServer(async (request, response) => {
    answers.push((await json(request)) as Record<string, unknown>);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await fixture.close();
});

const eventOf = (RequestType: 'Create' | 'Update' | 'Delete') =>
  ({
    RequestType,
    ResponseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    StackId: 'stack',
    RequestId: 'request',
    LogicalResourceId: 'Thing',
    ...(RequestType !== 'Create' && { PhysicalResourceId: 'thing' }),
    ResourceProperties: {},
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
    expect(answers).toEqual([expect.objectContaining({ Status: 'SUCCESS', PhysicalResourceId: 'stop-tasks' })]);
    expect(fixture.aws.calls).not.toContain('StopTask');
  });
});

describe('createOriginSecret', () => {
  it('provides a random masked secret that is the same for every later deployment', async () => {
    const handler = createOriginSecret({ state: fixture.state, log: silentLog });
    for (const type of ['Create', 'Update', 'Update'] as const) await handler(eventOf(type), contextOf(60_000));
    const [first] = answers;
    expect(first).toMatchObject({
      Status: 'SUCCESS',
      PhysicalResourceId: 'origin-secret',
      NoEcho: true,
      Data: { Secret: expect.stringMatching(/^[\w-]{43}$/) },
    });
    expect(answers).toEqual([first, first, first]);
  });

  it('keeps the secret in the table when the resource is replaced or deleted', async () => {
    const handler = createOriginSecret({ state: fixture.state, log: silentLog });
    for (const type of ['Create', 'Delete', 'Create'] as const) await handler(eventOf(type), contextOf(60_000));
    expect(answers[2]).toEqual(answers[0]);
  });
});
