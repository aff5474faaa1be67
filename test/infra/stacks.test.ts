import { describe, expect, it } from 'vitest';
import { FUNCTION_NAMES } from '../../infra/build/bundle.ts';
import { LEASE_SECONDS } from '../../lambdas/tools-update/update-tools.ts';
import { PROFILE_NAMES, regional, regionalTemplate, regionless, template } from './deployments.ts';
import { checkEdge } from './edge-checks.ts';
import { checkManual } from './manual-checks.ts';
import { actionsByRole, itemsByRole, type Template, wildcardStatements, withoutHash } from './permissions.ts';
import { expectedActions, expectedItems, WITHOUT_RESOURCE } from './roles.ts';
import { checkSettings } from './settings-checks.ts';
import { checkStreamHosts } from './stream-host-checks.ts';
import { mainTemplate, synthesize } from './synth.ts';
import {
  containerOf,
  dependenciesOf,
  explicitNames,
  functionNamed,
  idsOf,
  onlyResource,
  propertiesOf,
  resourcesOfType,
  valuesOf,
} from './template.ts';

const privateHobby = await mainTemplate('private hobby');

describe.each(PROFILE_NAMES)('every deployment: %s', (name) => {
  const of = template(name);

  it('needs no context lookup', () => {
    expect(regionless[name].lookups).toEqual([]);
    expect(regional[name].lookups).toEqual([]);
  });

  it('grants each role exactly the expected actions and table items', () => {
    expect(actionsByRole(of)).toEqual(expectedActions(name));
    expect(itemsByRole(of)).toEqual(expectedItems(name));
  });

  it('deletes every resource with the stack', () => {
    for (const [id, resource] of Object.entries(of.Resources)) {
      const { DeletionPolicy = 'Delete' } = resource as { DeletionPolicy?: string };
      expect([id, DeletionPolicy]).toEqual([id, 'Delete']);
    }
    expect(Object.values(actionsByRole(of)).flat()).not.toContain('logs:CreateLogGroup');
  });

  it('limits the duration of every function, reserves no concurrency, and retains logs for 30 days', () => {
    const functions = resourcesOfType(of, 'AWS::Lambda::Function');
    for (const { properties } of functions) {
      expect(properties.LoggingConfig).toMatchObject({ LogGroup: { Ref: expect.any(String) } });
      expect(properties.Timeout).toBeGreaterThan(0);
      expect(properties.ReservedConcurrentExecutions).toBeUndefined();
    }
    const groups = propertiesOf(of, 'AWS::Logs::LogGroup');
    for (const { RetentionInDays } of groups) expect(RetentionInDays).toBe(30);
    // Elsewhere API Gateway adds each group to the one policy of the account, whose length is limited.
    expect(groups.flatMap(({ LogGroupName }) => LogGroupName ?? [])).toEqual(['/aws/vendedlogs/apis/reelay-main']);
  });
});

it('protects public against deletion, and other profiles on request; keeps the table on request alone', async () => {
  expect(regional.public.protectedStacks).toEqual(regional.public.stacks);
  expect([...regional.hobby.protectedStacks, ...regional.team.protectedStacks]).toEqual([]);
  const kept = await synthesize('hobby with a retained table');
  expect(kept.protectedStacks).toEqual(['reelay-main']);
  const { Resources, Outputs } = kept.templates['reelay-main'] as never as {
    Resources: Record<string, { Type: string; DeletionPolicy?: string }>;
    Outputs: object;
  };
  const retained = Object.values(Resources).filter(({ DeletionPolicy = 'Delete' }) => DeletionPolicy !== 'Delete');
  expect(retained).toMatchObject([{ Type: 'AWS::DynamoDB::GlobalTable', DeletionPolicy: 'RetainExceptOnCreate' }]);
  expect(Outputs).toHaveProperty('RetainedTable');
});

describe.each(PROFILE_NAMES)('%s', (name) => {
  const of = template(name);
  const isHobby = name === 'hobby';

  it('has neither a NAT gateway nor an elastic IP address', () => {
    for (const each of [of, regionalTemplate(name)]) {
      expect(resourcesOfType(each, 'AWS::EC2::NatGateway')).toEqual([]);
      expect(resourcesOfType(each, 'AWS::EC2::EIP')).toEqual([]);
      expect(valuesOf(each, 'AWS::EC2::VPCEndpoint', 'VpcEndpointType')).toEqual(['Gateway', 'Gateway']);
    }
  });

  it(isHobby ? 'has no load balancer' : 'has one internal load balancer', () => {
    const balancers = resourcesOfType(of, 'AWS::ElasticLoadBalancingV2::LoadBalancer');
    expect(balancers.map(({ properties }) => properties.Scheme)).toEqual(isHobby ? [] : ['internal']);
    expect(resourcesOfType(of, 'AWS::ECS::Service')).toHaveLength(1);
  });

  it('uses the resource * only for actions without resource-level permissions', () => {
    for (const statement of wildcardStatements(of)) expect(WITHOUT_RESOURCE).toContain(statement.split(' ')[1]);
  });

  it('lets no function behind the API run longer than API Gateway waits', () => {
    const functions = resourcesOfType(of, 'AWS::Lambda::Function').filter(({ id }) => id.startsWith('Api'));
    for (const { id, properties } of functions) {
      expect(properties.Timeout, id).toBeLessThanOrEqual(29);
      expect(properties, id).toMatchObject({ Runtime: 'nodejs24.x', TracingConfig: { Mode: 'Active' } });
    }
    expect(functions).toHaveLength(2);
  });

  it('keeps its state in one on-demand table', () => {
    expect(onlyResource(of, 'AWS::DynamoDB::GlobalTable')).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      Replicas: [{ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: name === 'public' } }],
    });
  });

  it('changes the installation of the tools with the resolver, which does not wait for it', () => {
    expect(dependenciesOf(of, 'AWS::Lambda::Function', /^ApiResolver/)).not.toContain('ToolsInPlace');
    expect(onlyResource(of, 'Custom::ToolsLayer')).toMatchObject({
      resolver: expect.stringMatching(/^[0-9a-f]{64}$/),
      version: 'newest',
    });
  });

  it('invokes the resolver by its alias only, and contains no layer that an update replaces', () => {
    const layers = resourcesOfType(of, 'AWS::Lambda::LayerVersion').map(({ id }) => id);
    expect(layers.filter((id) => !id.includes('AwsCliLayer'))).toEqual([]);
    expect(functionNamed(of, 'get-resource').properties.Layers).toBeUndefined();
    const invoked = valuesOf(of, 'AWS::Lambda::Permission', 'FunctionName');
    const ofResolver = invoked.filter((each) => JSON.stringify(each).includes('"ApiResolver'));
    expect(ofResolver.length).toBeGreaterThan(0);
    for (const each of ofResolver) expect(JSON.stringify(each)).toContain(':live');
  });

  it('retries the installation of missing tools every 15 minutes', () => {
    const rules = resourcesOfType(of, 'AWS::Events::Rule').filter(({ id }) => id.startsWith('ToolUpdates'));
    expect(rules.map(({ properties }) => [properties.ScheduleExpression, properties.Targets])).toEqual([
      ['rate(12 hours)', [expect.not.objectContaining({ Input: expect.anything() })]],
      ['rate(15 minutes)', [expect.objectContaining({ Input: '{"onlyIfMissing":true}' })]],
    ]);
  });

  it('retries neither a failed update nor an expired wake', () => {
    const asynchronous = propertiesOf(of, 'AWS::Lambda::EventInvokeConfig');
    expect(asynchronous).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          FunctionName: { Ref: expect.stringMatching(/^ToolUpdatesFunction/) },
          MaximumRetryAttempts: 0,
        }),
        ...(isHobby
          ? [
              expect.objectContaining({
                FunctionName: { Ref: expect.stringMatching(/^StreamsWake/) },
                MaximumEventAgeInSeconds: 60,
                MaximumRetryAttempts: 0,
              }),
            ]
          : []),
      ]),
    );
    // A failed registration of a stopped task is retried.
    expect(asynchronous).toHaveLength(isHobby ? 3 : 2);
  });

  it('runs its task without root, on a read-only file system', () => {
    expect(onlyResource(of, 'AWS::ECS::TaskDefinition')).toMatchObject({
      ...(name === 'public' ? { Cpu: '1024', Memory: '2048' } : { Cpu: '512', Memory: '1024' }),
      Volumes: [{ Name: 'scratch' }],
      ContainerDefinitions: [expect.anything()],
    });
    expect(containerOf(of)).toMatchObject({
      Name: 'stream',
      // The limit of the task: the service derives the number of streams from its own memory limit.
      Memory: name === 'public' ? 2048 : 1024,
      User: '1000:1000',
      ReadonlyRootFilesystem: true,
      StopTimeout: 120,
      LinuxParameters: { InitProcessEnabled: true },
      MountPoints: [{ ContainerPath: '/scratch', ReadOnly: false, SourceVolume: 'scratch' }],
      HealthCheck: { Command: ['CMD', 'node', '/app/health.mjs'] },
      variables: {
        PORT: '8080',
        STAGE: 'main',
        AWS_REGION: { Ref: 'AWS::Region' },
        ...(isHobby ? { TRUSTED_PROXIES: '1', IDLE_MINUTES: '15' } : { TRUSTED_PROXIES: '2', IDLE_MINUTES: '0' }),
      },
    });
  });

  it('includes the stage in every explicit name', () => {
    const names = explicitNames(of);
    expect(names.length).toBeGreaterThan(5);
    for (const each of names) expect(each).toMatch(/reelay-?main/);
  });

  it('outputs its URL and the command that updates the tools', () => {
    const { Outputs } = of as Template & { Outputs: Record<string, { Value: unknown }> };
    expect(Object.keys(Outputs)).toEqual(expect.arrayContaining(['BaseUrl', 'EdgeDomain', 'UpdateToolsCommand']));
    expect(JSON.stringify(Outputs.UpdateToolsCommand)).toMatch(
      /aws lambda invoke --region .*AWS::Region.* --function-name/,
    );
  });

  it('has the alarms of its profile', () => {
    const alarms = idsOf(of, 'AWS::CloudWatch::Alarm').map((id) => id.replace('MonitoringAlarms', ''));
    const essential = [
      'ApiErrors',
      'CostGuardMissing',
      'FunctionErrors',
      'FunctionThrottles',
      'ResolvesFailing',
      'ToolUpdateFailed',
      'ToolsMissing',
    ];
    expect(alarms.sort()).toEqual([...essential, ...(isHobby ? [] : ['TasksMissing', 'StreamErrors'])].sort());
    expect(resourcesOfType(of, 'AWS::CloudWatch::Dashboard')).toHaveLength(1);
    // Nobody would be told.
    expect(resourcesOfType(of, 'AWS::Budgets::Budget')).toEqual([]);
  });
});

it.each([
  ['hobby in us-east-1', ['CostGuardFailed']],
  ['team in us-east-1', ['CostGuardFailed', 'EdgeErrors']],
  ['public in us-east-1', ['CostGuardFailed', 'EdgeErrors']],
  ['public in eu-central-1', []],
] as const)('of %s alarms on requests and 5xx at the edge: %j', async (name, expected) => {
  const { templates } = await synthesize(name);
  const alarms = Object.values(templates).flatMap((of) => idsOf(of, 'AWS::CloudWatch::Alarm'));
  const ofEdge = alarms.filter((id) => /EdgeErrors|CostGuardFailed/.test(id));
  expect(ofEdge.sort()).toEqual(expected.map((alarm) => `MonitoringAlarms${alarm}`));
});

describe('the cost guard', () => {
  const planOf = (of: Template) => {
    const { variables } = functionNamed(of, 'cost-guard');
    const joined = variables.SPENDING_PLAN as { 'Fn::Join': [string, unknown[]] };
    const text = joined['Fn::Join'][1]
      .map((part) => (typeof part === 'string' ? part : 'known-at-deployment'))
      .join('');
    return { variables, plan: JSON.parse(text) };
  };

  it.each([
    ['hobby', 1],
    ['team', 5],
    ['public', 200],
  ] as const)('of %s compares its metrics with %d USD a day, each minute', (name, dailyCap) => {
    const { plan, variables } = planOf(template(name));
    expect(plan).toMatchObject({ dailyCap, hourlyCap: dailyCap / 2, cachesStreams: name === 'public' });
    expect(plan.metrics.map((metric: { name: string }) => metric.name)).toEqual([
      ...['BytesDownloaded', 'Requests', 'BytesUploaded', 'Duration', 'Invocations'],
      ...(name === 'hobby' ? ['Invocations'] : []),
      ...['Count', 'Streams'],
    ]);
    for (const { usd, namespace, region } of plan.metrics) {
      expect(usd).toBeGreaterThan(0);
      expect(region).toBe(namespace === 'AWS/CloudFront' ? 'us-east-1' : undefined);
    }
    expect(variables).not.toHaveProperty('ALARM_TOPIC');
    const schedules = valuesOf(template(name), 'AWS::Events::Rule', 'ScheduleExpression');
    expect(schedules).toContain('rate(1 minute)');
  });

  it('may send mails to the topic of alarms, and nothing else', () => {
    const of = regionalTemplate('public');
    expect(planOf(of).variables.ALARM_TOPIC).toEqual({ Ref: expect.stringMatching(/^MonitoringAlarmsTopic/) });
    expect(actionsByRole(of).MonitoringCostGuardFunctionRole).toContain('sns:Publish');
    expect(actionsByRole(template('public')).MonitoringCostGuardFunctionRole).not.toContain('sns:Publish');
  });

  it.each(['hobby', 'team', 'public'] as const)(
    'has the bytes of a day counted in %s where the edge keeps none',
    (name) => {
      const bytes = containerOf(template(name)).variables.STREAM_BYTES_A_DAY;
      const expected = { hobby: 1 / 0.085e-9, team: 5 / 0.093e-9, public: undefined }[name];
      expect(bytes).toBe(expected && String(Math.floor(expected)));
    },
  );
});

it('attaches a flat-rate plan to the distribution, with the firewall that it requires', async () => {
  const { templates } = await synthesize('hobby with a plan');
  const all = Object.values(templates).flatMap((of) => resourcesOfType(of, 'AWS::WAFv2::WebACL'));
  expect(all).toHaveLength(1);
  const of = templates['reelay-main'] ?? { Resources: {} };
  expect(onlyResource(of, 'AWS::PricingPlanManager::Subscription')).toMatchObject({
    PlanFamily: 'CloudFront',
    PlanTier: 'PRO',
    ResourceArns: [
      expect.anything(),
      expect.objectContaining({ 'Fn::GetStackOutput': expect.anything() }),
      expect.anything(),
    ],
  });
  expect(resourcesOfType(template('hobby'), 'AWS::PricingPlanManager::Subscription')).toEqual([]);
});

it('invokes the guard where the requests of a day cost three daily caps', async () => {
  const { templates } = await synthesize('hobby in us-east-1');
  const [of = { Resources: {} }] = Object.values(templates);
  const alarm = resourcesOfType(of, 'AWS::CloudWatch::Alarm').find(({ id }) => id.includes('CostGuardFailed'));
  expect(alarm?.properties).toMatchObject({
    MetricName: 'Requests',
    Namespace: 'AWS/CloudFront',
    Period: 86_400,
    Statistic: 'Sum',
    ComparisonOperator: 'GreaterThanThreshold',
    // At 1.69 USD a million.
    Threshold: 1_775_148,
    TreatMissingData: 'notBreaching',
  });
  expect(alarm?.properties.Dimensions).toContainEqual({ Name: 'Region', Value: 'Global' });
  expect(JSON.stringify(alarm?.properties.AlarmActions)).toContain('MonitoringCostGuardFunction');
});

it('needs no more than the ten free alarms in hobby', async () => {
  const { templates } = await synthesize('hobby in us-east-1');
  const [of = { Resources: {} }] = Object.values(templates);
  const metrics = resourcesOfType(of, 'AWS::CloudWatch::Alarm').map(({ properties }) => {
    const { Metrics } = properties as { Metrics?: readonly object[] };
    return Metrics?.filter((metric) => 'MetricStat' in metric).length ?? 1;
  });
  expect(metrics.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10);
});

it('alarms on errors of the functions that no request reaches, and where the guard does not run', () => {
  const functionsOf = (name: string) => {
    const alarm = resourcesOfType(privateHobby, 'AWS::CloudWatch::Alarm').find(({ id }) => id.includes(name));
    return [...JSON.stringify(alarm?.properties).matchAll(/"FunctionName","Value":\{"Ref":"(\w+)"/g)].map(
      ([, id = '']) => withoutHash(id),
    );
  };
  expect(functionsOf('FunctionErrors').sort()).toEqual(['AccessKeysSync', 'StreamsWake']);
  expect(
    resourcesOfType(privateHobby, 'AWS::CloudWatch::Alarm').find(({ id }) => id.includes('CostGuardMissing'))
      ?.properties,
  ).toMatchObject({
    MetricName: 'Errors',
    Dimensions: [{ Name: 'FunctionName', Value: { Ref: expect.stringMatching(/^MonitoringCostGuardFunction/) } }],
    Statistic: 'Average',
    Period: 60,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    Threshold: 1,
    EvaluationPeriods: 5,
    TreatMissingData: 'breaching',
  });
});

it.each(PROFILE_NAMES)('ends updates of the tools in %s by when their lease ends', (name) => {
  const timeouts = ['update-tools', 'tools-layer'].map(
    (each) => functionNamed(template(name), each).properties.Timeout,
  );
  expect(timeouts).toEqual([LEASE_SECONDS, LEASE_SECONDS]);
});

it('rolls back a new release of yt-dlp when most resolves fail', () => {
  const of = template('team');
  const alarm = resourcesOfType(of, 'AWS::CloudWatch::Alarm').find(({ id }) => id.includes('ResolvesFailing'));
  expect(JSON.stringify(alarm?.properties.AlarmActions)).toContain('ToolUpdatesFunction');
  const principals = valuesOf(of, 'AWS::Lambda::Permission', 'Principal');
  expect(principals).toContain('lambda.alarms.cloudwatch.amazonaws.com');
});

it('deploys every function, those of the on-demand stream host in hobby only, that of access keys with their secret', () => {
  for (const name of FUNCTION_NAMES) expect(() => functionNamed(privateHobby, name)).not.toThrow();
});

checkEdge();
checkStreamHosts();
checkSettings();
checkManual(privateHobby);
