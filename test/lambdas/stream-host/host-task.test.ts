import { describe, expect, it } from 'vitest';
import { readTask } from '../../../lambdas/stream-host/host-task.ts';

describe('readTask', () => {
  it.each([
    ['PROVISIONING', 'RUNNING', undefined, 'starting'],
    ['PENDING', 'RUNNING', undefined, 'starting'],
    ['ACTIVATING', 'RUNNING', undefined, 'starting'],
    ['RUNNING', 'RUNNING', undefined, 'running'],
    ['RUNNING', 'RUNNING', 'UNKNOWN', 'running'],
    ['RUNNING', 'RUNNING', 'HEALTHY', 'running'],
    ['RUNNING', 'RUNNING', 'UNHEALTHY', 'unhealthy'],
    ['RUNNING', 'STOPPED', 'UNHEALTHY', 'ending'],
    ['PENDING', 'STOPPED', undefined, 'ending'],
    ['DEACTIVATING', 'STOPPED', undefined, 'ending'],
    ['DEACTIVATING', 'RUNNING', undefined, 'ending'],
    ['STOPPING', 'STOPPED', undefined, 'ending'],
    ['DEPROVISIONING', 'STOPPED', undefined, 'ending'],
    ['STOPPED', 'STOPPED', undefined, 'stopped'],
    ['DELETED', 'STOPPED', undefined, 'stopped'],
    ['SOMETHING_NEW', 'RUNNING', undefined, 'ending'],
    [undefined, undefined, undefined, 'ending'],
  ] as const)(
    'classifies lastStatus %s, desiredStatus %s, health %s as %s',
    (lastStatus, desiredStatus, healthStatus, stage) => {
      expect(readTask({ taskArn: 'arn', lastStatus, desiredStatus, healthStatus })).toEqual({
        arn: 'arn',
        stage,
        createdAt: 0,
      });
    },
  );

  it('reads the network interface, the secret, the revision and the times', () => {
    const described = readTask({
      taskArn: 'arn',
      taskDefinitionArn: 'arn:task-definition/stream:1',
      lastStatus: 'RUNNING',
      desiredStatus: 'RUNNING',
      createdAt: new Date(1_000_500),
      startedAt: new Date(2_000_000),
      stoppedReason: 'none yet',
      attachments: [
        { type: 'Service', details: [{ name: 'networkInterfaceId', value: 'eni-wrong' }] },
        {
          type: 'ElasticNetworkInterface',
          details: [{ name: 'subnetId' }, { name: 'networkInterfaceId', value: 'eni-1' }],
        },
      ],
      overrides: {
        containerOverrides: [
          { name: 'other' },
          {
            name: 'stream',
            environment: [
              { name: 'STAGE', value: 'x' },
              { name: 'ORIGIN_SECRET', value: 'secret' },
            ],
          },
        ],
      },
    });
    expect(described).toEqual({
      arn: 'arn',
      stage: 'running',
      definition: 'arn:task-definition/stream:1',
      createdAt: 1000,
      runningSince: 2000,
      networkInterface: 'eni-1',
      secret: 'secret',
      stopReason: 'none yet',
    });
  });

  it('returns undefined without an ARN', () => expect(readTask({ lastStatus: 'RUNNING' })).toBeUndefined());
});
