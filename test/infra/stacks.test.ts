import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProfileName } from '../../infra/config/settings.ts';
import { DOMAIN, PROFILE_NAMES, regional, regionalTemplate, regionless, SECRET, template } from './deployments.ts';
import { distribution } from './distribution.ts';
import { checkEdge } from './edge-checks.ts';
import {
  actionsByRole,
  countWildcards,
  itemsByRole,
  resourcesByRole,
  type Template,
  wildcardStatements,
  withoutHash,
} from './permissions.ts';
import { expectedActions, expectedItems, WITHOUT_RESOURCE } from './roles.ts';
import { checkStreamHosts } from './stream-host-checks.ts';
import { EUROPE, FUNCTIONS, synthesize, VIRGINIA } from './synth.ts';
import { dependenciesOf, explicitNames, onlyResource, resourcesOfType } from './template.ts';

const privateHobby = (
  await synthesize({ profile: 'hobby', accessKeysSecret: SECRET.replace('cookies', 'access-keys') }, EUROPE)
).templates['reelay-main'] ?? { Resources: {} };

describe.each(PROFILE_NAMES)('%s', (name) => {
  const of = template(name);
  const isHobby = name === 'hobby';

  it('needs no context lookup', () => {
    expect(regionless[name].lookups).toEqual([]);
    expect(regional[name].lookups).toEqual([]);
  });

  it('has neither a NAT gateway nor an elastic IP address', () => {
    for (const each of [of, regionalTemplate(name)]) {
      expect(resourcesOfType(each, 'AWS::EC2::NatGateway')).toEqual([]);
      expect(resourcesOfType(each, 'AWS::EC2::EIP')).toEqual([]);
      expect(
        resourcesOfType(each, 'AWS::EC2::VPCEndpoint').map(({ properties }) => properties.VpcEndpointType),
      ).toEqual(['Gateway', 'Gateway']);
    }
  });

  it(isHobby ? 'has neither a load balancer nor a service' : 'has one internal load balancer', () => {
    const balancers = resourcesOfType(of, 'AWS::ElasticLoadBalancingV2::LoadBalancer');
    expect(balancers.map(({ properties }) => properties.Scheme)).toEqual(isHobby ? [] : ['internal']);
    expect(resourcesOfType(of, 'AWS::ECS::Service')).toHaveLength(isHobby ? 0 : 1);
  });

  it('grants each role exactly the expected actions', () => expect(actionsByRole(of)).toEqual(expectedActions(name)));

  it('grants each role exactly the expected table items', () => expect(itemsByRole(of)).toEqual(expectedItems(name)));

  it('uses the resource * only for actions without resource-level permissions', () => {
    for (const statement of wildcardStatements(of)) expect(WITHOUT_RESOURCE).toContain(statement.split(' ')[1]);
  });

  it('limits the duration of every function, reserves no concurrency, and retains logs for 30 days', () => {
    const functions = resourcesOfType(of, 'AWS::Lambda::Function');
    for (const { properties } of functions) {
      expect(properties.LoggingConfig).toMatchObject({ LogGroup: { Ref: expect.any(String) } });
      expect(properties.Timeout).toBeGreaterThan(0);
      expect(properties.ReservedConcurrentExecutions).toBeUndefined();
    }
    for (const { properties } of resourcesOfType(of, 'AWS::Logs::LogGroup')) {
      expect(properties.RetentionInDays).toBe(30);
      expect(properties.LogGroupName).toBeUndefined();
    }
  });

  it('sets memory, timeout and storage of each function', () => {
    const sizes = resourcesOfType(of, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
      const { Description, MemorySize, Timeout, Runtime, TracingConfig, EphemeralStorage } = properties as never;
      if (!String(Description).startsWith('Reelay ')) return [];
      expect([Runtime, TracingConfig], id).toEqual(['nodejs24.x', { Mode: 'Active' }]);
      return [
        [String(Description).slice(7), MemorySize, Timeout, (EphemeralStorage as { Size?: number })?.Size ?? 512],
      ];
    });
    const small = (...names: string[]) => names.map((each) => [each, 256, 10, 512]);
    expect(sizes.sort()).toEqual(
      [
        ...small('get-app-info', 'get-request-count', 'get-api-description', 'not-found', 'origin-secret'),
        ['get-resource', 2048, 29, 512],
        ['canary', 2048, 120, 512],
        ['tools-layer', 1024, 600, 2048],
        ['update-tools', 1024, 900, 2048],
        ...(isHobby
          ? [
              ['wake', 256, 20, 512],
              ['register', 256, 60, 512],
              ['stop-tasks', 256, 600, 512],
            ]
          : []),
      ].sort(),
    );
  });

  it('keeps its state in one on-demand table', () => {
    expect(onlyResource(of, 'AWS::DynamoDB::GlobalTable')).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      Replicas: [{ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: name === 'public' } }],
    });
  });

  it('deletes every resource with the stack', () => {
    for (const [id, resource] of Object.entries(of.Resources)) {
      const { DeletionPolicy = 'Delete' } = resource as { DeletionPolicy?: string };
      expect([id, DeletionPolicy]).toEqual([id, 'Delete']);
    }
    const roles = actionsByRole(of);
    expect(Object.values(roles).flat()).not.toContain('logs:CreateLogGroup');
  });

  it('provides the tools layer before the resolver, and deletes updates before the layer', () => {
    expect(dependenciesOf(of, 'Custom::ToolsLayer', /^ToolsInPlace/)).toContain('ApiResolver');
    expect(dependenciesOf(of, 'AWS::Lambda::Function', /^ApiResolver/)).not.toContain('ToolsInPlace');
    expect(dependenciesOf(of, 'AWS::ApiGatewayV2::Route', /^ApiHttpANYapiFetch/)).toContain('ToolsInPlace');
    expect(dependenciesOf(of, 'AWS::Events::Rule', /^ToolUpdatesSchedule/)).toContain('ToolsInPlace');
    expect(onlyResource(of, 'Custom::ToolsLayer')).toMatchObject({
      resolver: expect.stringMatching(/^[0-9a-f]{64}$/),
      version: 'newest',
    });
  });

  it('invokes the resolver by its alias only, and contains no layer that an update replaces', () => {
    const layers = resourcesOfType(of, 'AWS::Lambda::LayerVersion').map(({ id }) => id);
    expect(layers.filter((id) => !id.includes('AwsCliLayer'))).toEqual([]);
    const resolver = resourcesOfType(of, 'AWS::Lambda::Function').find(({ id }) => id.startsWith('ApiResolver'));
    expect(resolver?.properties.Layers).toBeUndefined();
    const invoked = resourcesOfType(of, 'AWS::Lambda::Permission').map(({ properties }) => properties.FunctionName);
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
    const asynchronous = resourcesOfType(of, 'AWS::Lambda::EventInvokeConfig').map(
      ({ properties }) => properties as never,
    );
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
    expect(asynchronous).toHaveLength(isHobby ? 2 : 1);
  });

  it('runs its task without root, on a read-only file system', () => {
    const { Cpu, Memory, ContainerDefinitions, Volumes } = onlyResource(of, 'AWS::ECS::TaskDefinition') as never as {
      Cpu: string;
      Memory: string;
      Volumes: unknown;
      ContainerDefinitions: Record<string, unknown>[];
    };
    expect([Cpu, Memory, Volumes]).toEqual([
      ...(name === 'public' ? ['1024', '2048'] : ['512', '1024']),
      [{ Name: 'scratch' }],
    ]);
    expect(ContainerDefinitions).toHaveLength(1);
    expect(ContainerDefinitions[0]).toMatchObject({
      Name: 'stream',
      // The limit of the task: the service derives the number of streams from its own memory limit.
      Memory: name === 'public' ? 2048 : 1024,
      User: '1000:1000',
      ReadonlyRootFilesystem: true,
      StopTimeout: 120,
      LinuxParameters: { InitProcessEnabled: true },
      MountPoints: [{ ContainerPath: '/scratch', ReadOnly: false, SourceVolume: 'scratch' }],
      HealthCheck: { Command: ['CMD', 'node', '/app/health.mjs'] },
    });
    const environment = ContainerDefinitions[0]?.Environment as { Name: string; Value: string }[];
    const said = Object.fromEntries(environment.map(({ Name, Value }) => [Name, Value]));
    expect(said).toMatchObject({ PORT: '8080', STAGE: 'main', TRUSTED_PROXIES: isHobby ? '1' : '2' });
    expect(said.IDLE_MINUTES).toBe(isHobby ? '15' : '0');
    expect(said.AWS_REGION).toEqual({ Ref: 'AWS::Region' });
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
    const alarms = resourcesOfType(of, 'AWS::CloudWatch::Alarm').map(({ id }) =>
      withoutHash(id).replace('MonitoringAlarms', ''),
    );
    const essential = [
      'ApiErrors',
      'FunctionErrors',
      'FunctionThrottles',
      'ResolvesFailing',
      'ToolUpdateFailed',
      'ToolsMissing',
    ];
    const more = [
      ...['MaintenanceTooLong', 'TableThrottles'],
      ...['CpuExhausted', 'FfmpegFailures', 'ProcessPerLink', 'ReResolvesMany', 'ResolvesSlow', 'ToolsOld'],
    ];
    expect(alarms.sort()).toEqual(
      [
        ...essential,
        ...(isHobby ? ['TaskRunsLong'] : ['TasksMissing', 'StreamErrors']),
        ...(name === 'public' ? more : []),
      ].sort(),
    );
    expect(resourcesOfType(of, 'AWS::CloudWatch::Dashboard')).toHaveLength(1);
    expect(resourcesOfType(of, 'AWS::Budgets::Budget')).toHaveLength(1);
  });
});

it.each([
  ['hobby', VIRGINIA, []],
  ['team', VIRGINIA, ['EdgeErrors']],
  ['public', VIRGINIA, ['EdgeErrors']],
  ['public', EUROPE, []],
] as const)('of %s in %o alarms on 5xx at the edge: %j', async (profile, env, expected) => {
  const { templates } = await synthesize({ profile }, env);
  const alarms = Object.values(templates).flatMap((of) => resourcesOfType(of, 'AWS::CloudWatch::Alarm'));
  const found = alarms.map(({ id }) => withoutHash(id).replace('MonitoringAlarms', ''));
  expect(found.filter((alarm) => alarm === 'EdgeErrors')).toEqual(expected);
});

it('needs no more than the ten free alarms in hobby', () => {
  const metrics = resourcesOfType(template('hobby'), 'AWS::CloudWatch::Alarm').map(({ properties }) => {
    const { Metrics } = properties as { Metrics?: readonly object[] };
    return Metrics?.filter((metric) => 'MetricStat' in metric).length ?? 1;
  });
  expect(metrics.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(10);
});

it('rolls back a new release of yt-dlp when most resolves fail', () => {
  const of = template('team');
  const alarm = resourcesOfType(of, 'AWS::CloudWatch::Alarm').find(({ id }) => id.includes('ResolvesFailing'));
  expect(JSON.stringify(alarm?.properties.AlarmActions)).toContain('ToolUpdatesFunction');
  const principals = resourcesOfType(of, 'AWS::Lambda::Permission').map(({ properties }) => properties.Principal);
  expect(principals).toContain('lambda.alarms.cloudwatch.amazonaws.com');
});

describe('docs/operating-aws.md', () => {
  const manual = readFileSync(join(import.meta.dirname, '../../docs/operating-aws.md'), 'utf8');
  /** Names in the first column of the table under a heading. */
  const rows = (heading: string) => {
    const [, section = ''] = manual.split(`\n## ${heading}\n`);
    const [table = ''] = section.split('\n## ');
    return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name).sort();
  };

  it('has a runbook entry for every alarm, and no other', async () => {
    // CloudFront's metrics are in this region alone.
    const { templates } = await synthesize({ profile: 'public' }, VIRGINIA);
    const all = [...PROFILE_NAMES.map(template), ...Object.values(templates)];
    const alarms = all.flatMap((of) => resourcesOfType(of, 'AWS::CloudWatch::Alarm'));
    const names = alarms.map(({ id }) => withoutHash(id).replace('MonitoringAlarms', ''));
    expect(rows('Alarms')).toEqual([...new Set(names)].sort());
  });

  it('states how many statements have a wildcard', () => {
    const count = (name: ProfileName) => countWildcards(template(name));
    const row = (start: string) =>
      manual
        .split('\n')
        .find((line) => line.startsWith(start))
        ?.match(/\d+/g)
        ?.map(Number);
    const [everything, sum] = [row('| resource `*` |'), row('| sum |')];
    expect([everything?.[0], sum?.[0]]).toEqual(count('hobby'));
    for (const name of ['team', 'public'] as const) expect([everything?.[1], sum?.[1]]).toEqual(count(name));
  });

  it('explains every output, and each describes itself', () => {
    const outputs = [...PROFILE_NAMES.map(template), privateHobby].flatMap((each) =>
      Object.entries((each as unknown as { Outputs: Record<string, { Description?: string }> }).Outputs),
    );
    for (const [name, { Description }] of outputs) expect([name, Boolean(Description)]).toEqual([name, true]);
    expect(rows('Outputs')).toEqual([...new Set(outputs.map(([name]) => name))].sort());
  });
});

it('deploys every function, those of the on-demand stream host in hobby only, that of access keys with their secret', () => {
  const deployed = resourcesOfType(privateHobby, 'AWS::Lambda::Function').map(({ properties }) =>
    String(properties.Description).replace('Reelay ', ''),
  );
  expect(deployed).toEqual(expect.arrayContaining(FUNCTIONS));
});

checkEdge();
checkStreamHosts();

describe('settings', () => {
  const atOnce = (of: Template) => {
    const resolver = resourcesOfType(of, 'AWS::Lambda::Function').find(({ id }) => id.startsWith('ApiResolver'));
    const { Variables = {} } = (resolver?.properties.Environment ?? {}) as { Variables?: Record<string, unknown> };
    return Variables.ENTRIES_AT_ONCE;
  };

  it('entriesAtOnce limits the playlist entries that resolve concurrently', () => {
    expect(PROFILE_NAMES.map((name) => atOnce(template(name)))).toEqual(['4', '8', '24']);
    expect(atOnce(regionalTemplate('public'))).toBe('60');
  });

  it('reserve the executions of the resolver, which bounds its bill', () => {
    const reserved = (of: Template) =>
      resourcesOfType(of, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
        const { ReservedConcurrentExecutions: executions } = properties;
        return executions === undefined ? [] : [[withoutHash(id), executions]];
      });
    expect(reserved(regionalTemplate('public'))).toEqual([['ApiResolver', 90]]);
    expect(reserved(template('public'))).toEqual([]);
  });

  it('alarmEmail receives every alarm and the budget notification', () => {
    const of = regionalTemplate('public');
    expect(onlyResource(of, 'AWS::SNS::Subscription')).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
    });
    for (const { properties } of resourcesOfType(of, 'AWS::CloudWatch::Alarm'))
      expect(properties.AlarmActions).toContainEqual({ Ref: expect.stringMatching(/^MonitoringAlarmsTopic/) });
    expect(onlyResource(of, 'AWS::Budgets::Budget').NotificationsWithSubscribers).toHaveLength(3);
    expect(resourcesOfType(template('public'), 'AWS::SNS::Topic')).toEqual([]);
  });

  it('architecture applies to every function and the task', () => {
    for (const { properties } of resourcesOfType(regionalTemplate('team'), 'AWS::Lambda::Function')) {
      if (String(properties.Description).startsWith('Reelay')) expect(properties.Architectures).toEqual(['arm64']);
    }
    expect(onlyResource(regionalTemplate('team'), 'AWS::ECS::TaskDefinition')).toMatchObject({
      RuntimePlatform: { CpuArchitecture: 'ARM64' },
    });
  });

  it('cookiesSecret is readable by the resolver and the task, and no other secret is', () => {
    const secrets = resourcesByRole(regionalTemplate('public'), 'secretsmanager:GetSecretValue');
    expect(secrets).toEqual({ ApiResolverRole: [SECRET], TaskTaskRole: [SECRET] });
    expect(resourcesByRole(template('public'), 'secretsmanager:GetSecretValue')).toEqual({});
    const resolver = resourcesOfType(regionalTemplate('public'), 'AWS::Lambda::Function').find(({ id }) =>
      id.startsWith('ApiResolver'),
    );
    expect(resolver?.properties.Environment).toMatchObject({ Variables: { COOKIES_SECRET: SECRET } });
  });

  it('domain is an alias of the distribution, with TLS 1.2 or later', () => {
    expect(distribution(regionalTemplate('team'))).toMatchObject({
      Aliases: ['media.example.com'],
      ViewerCertificate: { AcmCertificateArn: DOMAIN.certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
    const { Outputs } = regionalTemplate('team') as Template & { Outputs: Record<string, { Value: unknown }> };
    expect(Outputs.BaseUrl?.Value).toBe('https://media.example.com');
  });
});
