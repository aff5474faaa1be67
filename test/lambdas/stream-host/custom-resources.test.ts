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
import { type OnDemandInstance, startOnDemandInstance } from './instance.ts';

let instance: OnDemandInstance;
/** Where CloudFormation waits. */
let server: Server;
let answers: Record<string, unknown>[];
beforeEach(async () => {
  instance = await startOnDemandInstance();
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
  await instance.close();
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

describe('the deletion of a stack', () => {
  const stopTasks = () =>
    createStopTasks({
      tasks: createStreamTasks({ ecs: instance.aws.ecs, cluster: 'stream' }),
      log: silentLog,
      pollIntervalMs: 1,
    });

  it('stops every task and waits until each has let go of its network', async () => {
    await instance.wakeAhead();
    const [task] = instance.aws.tasks;
    if (!task) throw new Error('No task was started');
    const others = [structuredClone(task), structuredClone(task)].map((other, at) =>
      Object.assign(other, { taskArn: `arn:task/${at}`, lastStatus: 'RUNNING' }),
    );
    instance.aws.tasks.push(...others);
    let looks = 0;
    instance.aws.interfere = (operation) => {
      // Each look finds one more gone.
      const [ending] = instance.aws.tasks.filter(
        ({ desiredStatus, lastStatus }) => desiredStatus === 'STOPPED' && lastStatus !== 'STOPPED',
      );
      if (operation === 'ListTasks' && looks++ % 4 === 3 && ending) ending.lastStatus = 'STOPPED';
      return undefined;
    };
    await stopTasks()(eventOf('Delete'), contextOf(60_000));
    expect(answers).toEqual([expect.objectContaining({ Status: 'SUCCESS', PhysicalResourceId: 'thing' })]);
    expect(instance.aws.tasks.map(({ lastStatus }) => lastStatus)).toEqual(['STOPPED', 'STOPPED', 'STOPPED']);
    expect(instance.aws.calls.filter((call) => call === 'StopTask')).toHaveLength(3);
  });

  it('leaves the tasks of a service alone, which serve while a change of profile deletes the on-demand host', async () => {
    await instance.wakeAhead();
    const [woken] = instance.aws.tasks;
    if (!woken) throw new Error('No task was started');
    const service = {
      ...structuredClone(woken),
      taskArn: 'arn:task/service',
      startedBy: 'ecs-svc/1234567890123456789',
    };
    instance.aws.tasks.push(Object.assign(service, { lastStatus: 'RUNNING' }));
    instance.aws.interfere = () => {
      if (woken.desiredStatus === 'STOPPED') woken.lastStatus = 'STOPPED';
      return undefined;
    };
    await stopTasks()(eventOf('Delete'), contextOf(60_000));
    expect(answers).toEqual([expect.objectContaining({ Status: 'SUCCESS' })]);
    expect([woken.lastStatus, service.lastStatus, service.desiredStatus]).toEqual(['STOPPED', 'RUNNING', 'RUNNING']);
    expect(instance.aws.calls.filter((call) => call === 'StopTask')).toHaveLength(1);
  });

  it('has nothing to wait for where nothing runs', async () => {
    await stopTasks()(eventOf('Delete'), contextOf(60_000));
    expect(answers).toEqual([expect.objectContaining({ Status: 'SUCCESS' })]);
    expect(instance.aws.calls).not.toContain('StopTask');
  });

  it('says in time that a task does not end', async () => {
    await instance.wakeAhead();
    await stopTasks()(eventOf('Delete'), contextOf(10_100));
    expect(answers).toEqual([expect.objectContaining({ Status: 'FAILED', PhysicalResourceId: 'thing' })]);
  });

  it.each(['Create', 'Update'] as const)('is all it acts on: %s stops nothing', async (type) => {
    await instance.wakeAhead();
    await stopTasks()(eventOf(type), contextOf(60_000));
    expect(answers).toEqual([expect.objectContaining({ Status: 'SUCCESS', PhysicalResourceId: 'stop-tasks' })]);
    expect(instance.aws.calls).not.toContain('StopTask');
  });
});

describe('the secret of the origins', () => {
  it('is random, hidden, and the same for every later deployment', async () => {
    const handler = createOriginSecret({ state: instance.state, log: silentLog });
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

  it('stays when the resource is replaced or deleted: the table decides', async () => {
    const handler = createOriginSecret({ state: instance.state, log: silentLog });
    for (const type of ['Create', 'Delete', 'Create'] as const) await handler(eventOf(type), contextOf(60_000));
    expect(answers[2]).toEqual(answers[0]);
  });
});
