import { describe, expect, it } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { profileOf } from '../../infra/config/profiles.ts';
import { readContext } from '../../infra/config/settings.ts';
import { readTaskSettings } from '../../stream-service/task/task-settings.ts';
import { webFunctionEnvironment } from '../../stream-service/web-function/environment.ts';
import { SECRET } from './deployment-settings.ts';
import { template } from './deployments.ts';
import { distribution } from './distribution.ts';
import { resourcesByRole, withoutHash } from './permissions.ts';
import { mainTemplate, synthesize } from './synth.ts';
import { onlyResource, resourcesOfType } from './template.ts';

const of = template('lambda');
const onFargate = template('hobby');

it('streamHost=lambda changes only the stream host of hobby', () => {
  const hobby = profileOf(readContext({ profile: 'hobby' }));
  const onLambda = profileOf(readContext({ profile: 'hobby', streamHost: 'lambda' }));
  expect(onLambda).toEqual({ ...hobby, streamHost: 'web-function' });
  expect(() => readContext({ profile: 'hobby', streamHost: 'ec2' })).toThrow(/^streamHost must be one of/);
});

describe('the stack of hobby on Lambda', () => {
  it('has no network, task, image or origin group, and starts nothing', () => {
    const types = Object.values(of.Resources).map(({ Type }) => Type);
    expect(types.filter((type) => /^AWS::(EC2|ECS|ElasticLoadBalancingV2|ECR)::|Custom::AWS/.test(type))).toEqual([]);
    expect(distribution(of).OriginGroups?.Items ?? []).toEqual([]);
    const functions = resourcesOfType(of, 'AWS::Lambda::Function').map(({ properties }) =>
      String(properties.Description),
    );
    for (const name of ['wake', 'register', 'stop-tasks']) expect(functions).not.toContain(`Reelay ${name}`);
    expect(JSON.stringify(of)).not.toContain('WAKE_FUNCTION');
    const code = onlyResource(of, 'AWS::CloudFront::Function').FunctionCode;
    expect(String(code)).not.toContain('updateRequestOrigin');
  });

  it('runs the stream service within the documented limits', () => {
    const { BuildConfig, ServiceConfig } = onlyResource(of, 'AWS::Lambda::WebFunctionRevision') as never as {
      BuildConfig: object;
      ServiceConfig: Record<string, unknown>;
    };
    expect(BuildConfig).toMatchObject({ RuntimeConfig: { Runtime: 'nodejs24.x' } });
    expect(ServiceConfig).toMatchObject({ TimeoutSeconds: 900, MaxConcurrencyPerEnvironment: 64 });
    expect(onlyResource(of, 'AWS::Lambda::WebFunctionEndpoint')).toMatchObject({
      // Its name, not its ARN.
      FunctionName: { Ref: expect.stringMatching(/^StreamFunction/) },
      AuthType: 'IamAuth',
      EndpointType: 'HomeRegion',
      ScalingConfig: { MaxEnvironments: 2 },
      ThrottleConfig: { RateLimit: 100 },
    });
  });

  it('gets every variable that it reads, and no other', () => {
    const { ServiceConfig } = onlyResource(of, 'AWS::Lambda::WebFunctionRevision') as never as {
      ServiceConfig: { EnvironmentVariables: Record<string, unknown> };
    };
    const given = Object.fromEntries(
      Object.entries(ServiceConfig.EnvironmentVariables).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : 'known-at-deployment',
      ]),
    );
    const environment = webFunctionEnvironment({ ...given, AWS_LAMBDA_HTTP_ENDPOINT: '127.0.0.1:8080' }, '/var/task');
    expect(readSettings(environment)).toMatchObject({ host: '127.0.0.1', port: 8080, trustedProxies: 2 });
    expect(readTaskSettings(environment)).toMatchObject({ stage: 'main', idleMinutes: 0, originSecret: undefined });
    const [container] = onlyResource(onFargate, 'AWS::ECS::TaskDefinition').ContainerDefinitions as never as [
      { Environment: { Name: string }[] },
    ];
    const ofTask = container.Environment.map(({ Name }) => Name).filter(
      (name) => !['AWS_REGION', 'PORT'].includes(name),
    );
    expect(Object.keys(given).sort()).toEqual(ofTask.sort());
  });

  it('is reached by requests that CloudFront signs for a distribution of the account alone', () => {
    const origin = distribution(of).Origins.find(({ Id }) => Id === 'stream') as never as Record<string, unknown>;
    expect(origin).toMatchObject({
      DomainName: { 'Fn::GetAtt': [expect.stringMatching(/^StreamFunction.*Endpoint/), 'DomainName'] },
      OriginAccessControlId: { 'Fn::GetAtt': [expect.stringMatching(/^StreamFunctionAccess/), 'Id'] },
      CustomOriginConfig: { OriginProtocolPolicy: 'https-only', OriginReadTimeout: 60 },
      ConnectionAttempts: 1,
    });
    const control = resourcesOfType(of, 'AWS::CloudFront::OriginAccessControl').find(({ id }) =>
      id.startsWith('StreamFunction'),
    );
    expect(control?.properties.OriginAccessControlConfig).toMatchObject({
      OriginAccessControlOriginType: 'lambda',
      SigningBehavior: 'always-amz-auth',
      SigningProtocol: 'sigv4',
    });
    const { PolicyDocument } = onlyResource(of, 'AWS::Lambda::ResourcePolicy') as never as {
      PolicyDocument: { Statement: object[] };
    };
    expect(PolicyDocument.Statement).toEqual([
      {
        Sid: '0',
        Effect: 'Allow',
        Action: 'lambda:InvokeWebFunctionEndpoint',
        Principal: { Service: 'cloudfront.amazonaws.com' },
        Resource: expect.anything(),
        Condition: {
          ArnLike: {
            'aws:SourceArn': {
              'Fn::Join': [
                '',
                ['arn:', { Ref: 'AWS::Partition' }, ':cloudfront::', { Ref: 'AWS::AccountId' }, ':distribution/*'],
              ],
            },
          },
        },
      },
    ]);
  });

  it('makes no deliveries of a private instance: it stands still without requests', async () => {
    const withKeys = await mainTemplate('private lambda, to change');
    const [revision, code] = [
      onlyResource(withKeys, 'AWS::Lambda::WebFunctionRevision'),
      onlyResource(withKeys, 'AWS::CloudFront::Function').FunctionCode,
    ];
    expect(JSON.stringify(revision)).not.toContain('ACCESS_KEYS_SECRET');
    expect(String(code)).not.toContain('/api/Deliver');
    expect(distribution(withKeys).CacheBehaviors).toHaveLength(distribution(of).CacheBehaviors.length);
    expect(Object.keys(resourcesByRole(withKeys, 'secretsmanager:GetSecretValue'))).toEqual(['AccessKeysSyncRole']);
  });

  it('passes every method to the edge function, which refuses it with problem details', () => {
    const [, stream] = distribution(of).CacheBehaviors;
    expect([stream?.TargetOriginId, stream?.AllowedMethods.length]).toEqual(['stream', 7]);
  });

  it('reads the secrets that the settings name', async () => {
    const named = await mainTemplate('lambda with cookies');
    expect(resourcesByRole(named, 'secretsmanager:GetSecretValue')).toEqual({
      ApiResolverRole: [SECRET],
      StreamFunctionRole: [SECRET],
    });
  });

  it('takes its name from stage and region, and fits the limit of 64 characters in every region', async () => {
    const { templates } = await synthesize('lambda with long names');
    const longest = templates['reelay-a-stage-of-20-letter'] ?? of;
    const name = String(onlyResource(longest, 'AWS::Lambda::WebFunction').FunctionName);
    expect(name).toBe('reelay-a-stage-of-20-letter-ap-southeast-1-stream');
    expect(name.length).toBeLessThanOrEqual(64);
  });

  it('has the alarms of hobby, with one on failing streams instead of one on the task, all free', () => {
    const alarms = resourcesOfType(of, 'AWS::CloudWatch::Alarm');
    const names = (each: typeof alarms) => each.map(({ id }) => withoutHash(id).replace('MonitoringAlarms', '')).sort();
    const expected = names(resourcesOfType(onFargate, 'AWS::CloudWatch::Alarm')).filter(
      (name) => name !== 'TaskRunsLong',
    );
    expect(names(alarms)).toEqual([...expected, 'StreamErrors'].sort());
    const metrics = alarms.map(({ properties }) => {
      const { Metrics } = properties as { Metrics?: readonly object[] };
      return Metrics?.filter((metric) => 'MetricStat' in metric).length ?? 1;
    });
    expect(metrics.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10);
    const errors = alarms.find(({ id }) => id.includes('StreamErrors'));
    expect(errors?.properties).toMatchObject({
      Namespace: 'AWS/Lambda/Web',
      MetricName: 'HTTPResponseStatusClass5XX',
      Dimensions: [
        { Name: 'EndpointName', Value: 'prod' },
        { Name: 'FunctionName', Value: expect.anything() },
      ],
    });
  });
});
