import { describe, expect, it } from 'vitest';
import type { ProfileName } from '../../infra/profiles.ts';
import { nameOf, permissionsOf, resourcesOf, statementsOnEverything, type Template } from './permissions.ts';
import { rolesOf, WITHOUT_RESOURCE } from './roles.ts';
import { EUROPE, synthesise, VIRGINIA } from './synth.ts';
import { namesIn, ofType, only, standsOn } from './template.ts';

const DOMAIN = {
  domain: 'media.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:111111111111:certificate/0a1b2c3d-0000-1111-2222-333344445555',
};
const SECRET = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:cookies-AbCdEf';

/** Each synthesised once, with cdk-nag and CloudFormation's validation as errors: a finding fails here. */
const nowhere = {
  hobby: synthesise({ profile: 'hobby' }),
  team: synthesise({ profile: 'team' }),
  public: synthesise({ profile: 'public' }),
};
const somewhere = {
  hobby: synthesise({ profile: 'hobby', stage: 'blue' }, EUROPE),
  team: synthesise({ profile: 'team', stage: 'blue', architecture: 'arm64', ...DOMAIN }, VIRGINIA),
  public: synthesise(
    { profile: 'public', stage: 'blue', alarmEmail: 'ops@example.com', cookiesSecret: SECRET },
    EUROPE,
  ),
};
const NAMES: ProfileName[] = ['hobby', 'team', 'public'];
const template = (name: ProfileName): Template => nowhere[name].templates['reelay-main'] ?? { Resources: {} };
const placed = (name: ProfileName): Template => somewhere[name].templates['reelay-blue'] ?? { Resources: {} };
const distribution = (of: Template) => only(of, 'AWS::CloudFront::Distribution').DistributionConfig as never as Edge;

interface Behaviour {
  readonly PathPattern?: string;
  readonly TargetOriginId: string;
  readonly AllowedMethods: string[];
  readonly CachePolicyId: string;
  readonly OriginRequestPolicyId?: string;
  readonly Compress: boolean;
  readonly FunctionAssociations: { EventType: string }[];
}
interface Origin {
  readonly Id: string;
  readonly CustomOriginConfig?: Record<string, unknown>;
  readonly OriginCustomHeaders?: { HeaderName: string; HeaderValue: unknown }[];
  readonly VpcOriginConfig?: unknown;
  readonly ConnectionAttempts?: number;
  readonly ConnectionTimeout?: number;
}
interface Edge {
  readonly CacheBehaviors: Behaviour[];
  readonly DefaultCacheBehavior: Behaviour;
  readonly Origins: Origin[];
  readonly OriginGroups?: { Items: { Id: string; Members: unknown; FailoverCriteria: unknown }[] };
  readonly CustomErrorResponses: { ErrorCode: number; ErrorCachingMinTTL: number; ResponsePagePath?: string }[];
  readonly WebACLId?: unknown;
  readonly Aliases?: string[];
}

const CACHING_DISABLED = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
const ALL_VIEWER_EXCEPT_HOST = 'b689b0a8-53d0-40ab-baf2-68738e2966ac';

describe.each(NAMES)('%s', (name) => {
  const of = template(name);
  const isHobby = name === 'hobby';

  it('needs no look-up', () => {
    expect(nowhere[name].lookups).toEqual([]);
    expect(somewhere[name].lookups).toEqual([]);
  });

  it('has no NAT gateway and no address that is kept', () => {
    for (const each of [of, placed(name)]) {
      expect(ofType(each, 'AWS::EC2::NatGateway')).toEqual([]);
      expect(ofType(each, 'AWS::EC2::EIP')).toEqual([]);
      expect(ofType(each, 'AWS::EC2::VPCEndpoint').map(({ properties }) => properties.VpcEndpointType)).toEqual([
        'Gateway',
        'Gateway',
      ]);
    }
  });

  it(isHobby ? 'has no load balancer and no service that runs on' : 'has one internal load balancer', () => {
    const balancers = ofType(of, 'AWS::ElasticLoadBalancingV2::LoadBalancer');
    expect(balancers.map(({ properties }) => properties.Scheme)).toEqual(isHobby ? [] : ['internal']);
    expect(ofType(of, 'AWS::ECS::Service')).toHaveLength(isHobby ? 0 : 1);
  });

  it('gives each role these actions and no other', () => expect(permissionsOf(of)).toEqual(rolesOf(name)));

  it('names every resource only where AWS takes none', () => {
    for (const statement of statementsOnEverything(of)) expect(WITHOUT_RESOURCE).toContain(statement.split(' ')[1]);
  });

  it('bounds every function, and keeps its logs for a while in a group that goes with the stack', () => {
    const functions = ofType(of, 'AWS::Lambda::Function');
    for (const { properties } of functions) {
      expect(properties.LoggingConfig).toMatchObject({ LogGroup: { Ref: expect.any(String) } });
      expect(properties.Timeout).toBeGreaterThan(0);
      expect(properties.ReservedConcurrentExecutions).toBeUndefined();
    }
    for (const { properties } of ofType(of, 'AWS::Logs::LogGroup')) {
      expect(properties.RetentionInDays).toBe(30);
      expect(properties.LogGroupName).toBeUndefined();
    }
  });

  it('sizes its functions', () => {
    const sizes = ofType(of, 'AWS::Lambda::Function').flatMap(({ id, properties }) => {
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

  it('sends streams, the API and the page each to its origin, and caches the page alone', () => {
    const { CacheBehaviors, DefaultCacheBehavior, OriginGroups } = distribution(of);
    const stream = isHobby ? OriginGroups?.Items[0]?.Id : 'stream';
    expect(CacheBehaviors.map(({ PathPattern, TargetOriginId }) => [PathPattern, TargetOriginId])).toEqual([
      ['/???/??????/*', stream],
      ['/???/*', 'api'],
      ['/swagger*', 'api'],
    ]);
    for (const behaviour of CacheBehaviors) {
      expect(behaviour).toMatchObject({
        CachePolicyId: CACHING_DISABLED,
        OriginRequestPolicyId: ALL_VIEWER_EXCEPT_HOST,
        Compress: false,
        FunctionAssociations: [{ EventType: 'viewer-request' }],
      });
    }
    expect(DefaultCacheBehavior).toMatchObject({ TargetOriginId: 'page' });
  });

  it('lets other methods reach the function that answers them, except where a group of origins forbids it', () => {
    const [stream, api, swagger] = distribution(of).CacheBehaviors.map(({ AllowedMethods }) => AllowedMethods.length);
    expect([stream, api, swagger]).toEqual([isHobby ? 3 : 7, 7, 7]);
  });

  it('keeps no error at the edge, and puts no page over it', () => {
    const responses = distribution(of).CustomErrorResponses;
    const codes = responses.map(({ ErrorCode }) => ErrorCode);
    expect(codes).toEqual([400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]);
    for (const { ErrorCachingMinTTL, ResponsePagePath } of responses) {
      expect([ErrorCachingMinTTL, ResponsePagePath]).toEqual([0, undefined]);
    }
  });

  it('tells the API the origin secret, which it asks for', () => {
    const origin = distribution(of).Origins.find(({ Id }) => Id === 'api');
    const secret = { 'Fn::GetAtt': ['OriginSecret', 'Secret'] };
    expect(origin?.OriginCustomHeaders).toEqual([{ HeaderName: 'x-reelay-origin', HeaderValue: secret }]);
    const behindApi = ofType(of, 'AWS::Lambda::Function').filter(({ id }) => id.startsWith('Api'));
    expect(behindApi).toHaveLength(5);
    for (const { properties } of behindApi) {
      expect(properties.Environment).toMatchObject({ Variables: { ORIGIN_SECRET: secret } });
    }
  });

  it('routes what the edge has folded, and answers the rest itself', () => {
    const routes = ofType(of, 'AWS::ApiGatewayV2::Route').map(({ properties }) => properties.RouteKey as string);
    expect(routes.sort()).toEqual(
      ['$default', 'ANY /api/App', 'ANY /api/App/requests', 'ANY /api/Fetch/GetResource', 'ANY /swagger'].concat(
        'ANY /swagger/{proxy+}',
      ),
    );
    expect(only(of, 'AWS::ApiGatewayV2::Stage')).toMatchObject({
      StageName: '$default',
      DefaultRouteSettings: { ThrottlingRateLimit: expect.any(Number), ThrottlingBurstLimit: expect.any(Number) },
    });
  });

  it('keeps its state in one table, paid by use', () => {
    expect(only(of, 'AWS::DynamoDB::GlobalTable')).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
      Replicas: [{ PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: name === 'public' } }],
    });
  });

  it('leaves nothing behind', () => {
    for (const [id, resource] of Object.entries(of.Resources)) {
      const { DeletionPolicy = 'Delete' } = resource as { DeletionPolicy?: string };
      expect([id, DeletionPolicy]).toEqual([id, 'Delete']);
    }
    const roles = permissionsOf(of);
    expect(Object.values(roles).flat()).not.toContain('logs:CreateLogGroup');
  });

  it('gives each deployment the newest tools before anybody resolves, and ends updates before it ends the layer', () => {
    expect(standsOn(of, 'AWS::Lambda::Function', /^ApiResolver/)).toContain('ToolsInPlace');
    expect(standsOn(of, 'AWS::Events::Rule', /^ToolUpdatesSchedule/)).toContain('ToolsInPlace');
    expect(standsOn(of, 'Custom::ToolsLayer', /^ToolsInPlace/)).not.toContain('ApiResolver');
    expect(only(of, 'Custom::ToolsLayer')).toMatchObject({ deployedAt: 'a day' });
  });

  it('runs its task without root, on a system that it cannot write to', () => {
    const { Cpu, Memory, ContainerDefinitions, Volumes } = only(of, 'AWS::ECS::TaskDefinition') as never as {
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
  });

  it('gives nothing a name that another stage would have too', () => {
    const names = namesIn(of);
    expect(names.length).toBeGreaterThan(5);
    for (const each of names) expect(each).toMatch(/reelay-?main/);
  });

  it('says where it is and how its tools are updated', () => {
    const { Outputs } = of as Template & { Outputs: Record<string, { Value: unknown }> };
    expect(Object.keys(Outputs)).toEqual(expect.arrayContaining(['BaseUrl', 'EdgeDomain', 'UpdateToolsCommand']));
    expect(JSON.stringify(Outputs.UpdateToolsCommand)).toContain('aws lambda invoke --function-name');
  });

  it('watches, within the alarms that cost nothing unless it is public', () => {
    const alarms = ofType(of, 'AWS::CloudWatch::Alarm').map(({ id }) => nameOf(id).replace('MonitoringAlarms', ''));
    const essential = [
      'FunctionErrors',
      'FunctionThrottles',
      'MaintenanceTooLong',
      'TableThrottles',
      'ToolUpdateFailed',
    ];
    const more = ['CpuExhausted', 'FfmpegFailures', 'ReResolvesMany', 'ResolvesSlow', 'StreamErrors', 'ToolsOld'];
    expect(alarms.sort()).toEqual(
      [...essential, ...(isHobby ? [] : ['TasksMissing']), ...(name === 'public' ? more : [])].sort(),
    );
    expect(ofType(of, 'AWS::CloudWatch::Dashboard')).toHaveLength(1);
    expect(ofType(of, 'AWS::Budgets::Budget')).toHaveLength(1);
  });
});

describe('a stream host that is balanced', () => {
  const of = template('team');

  it('is reached by CloudFront alone, through the load balancer', () => {
    const ingress = ofType(of, 'AWS::EC2::SecurityGroupIngress').map(({ properties }) => properties as never);
    expect(ingress).toEqual([
      expect.objectContaining({ FromPort: 80, ToPort: 80, SourcePrefixListId: expect.anything() }),
      expect.objectContaining({ FromPort: 8080, ToPort: 8080, SourceSecurityGroupId: expect.anything() }),
    ]);
    for (const { properties } of ofType(of, 'AWS::EC2::SecurityGroup')) {
      expect(properties.SecurityGroupIngress).toBeUndefined();
    }
    const [origin] = distribution(of).Origins.filter(({ VpcOriginConfig }) => VpcOriginConfig);
    expect(origin).toMatchObject({ Id: 'stream', ConnectionAttempts: 1, VpcOriginConfig: { OriginReadTimeout: 60 } });
  });

  it('cuts no stream when a task goes', () => {
    const { TargetGroupAttributes = [] } = only(of, 'AWS::ElasticLoadBalancingV2::TargetGroup');
    expect(TargetGroupAttributes).toContainEqual({ Key: 'deregistration_delay.timeout_seconds', Value: '900' });
    const { LoadBalancerAttributes = [] } = only(of, 'AWS::ElasticLoadBalancingV2::LoadBalancer');
    expect(LoadBalancerAttributes).toContainEqual({ Key: 'idle_timeout.timeout_seconds', Value: '4000' });
    expect(only(of, 'AWS::ECS::Service')).toMatchObject({
      DeploymentConfiguration: {
        DeploymentCircuitBreaker: { Enable: true, Rollback: true },
        MinimumHealthyPercent: 100,
        MaximumPercent: 200,
      },
      NetworkConfiguration: { AwsvpcConfiguration: { AssignPublicIp: 'ENABLED' } },
    });
    expect(only(of, 'AWS::ECS::Service').DesiredCount).toBeUndefined();
  });

  it('starts tasks once there are tools', () =>
    expect(standsOn(of, 'AWS::ECS::Service', /./)).toContain('ToolsInPlace'));

  it.each<[ProfileName, number, number, number]>([
    ['team', 1, 4, 0.5],
    ['public', 2, 20, 1],
  ])('scales in %s from %i to %i by CPU, streams and bytes', (name, least, most, cores) => {
    const each = template(name);
    expect(only(each, 'AWS::ApplicationAutoScaling::ScalableTarget')).toMatchObject({
      MinCapacity: least,
      MaxCapacity: most,
    });
    const policies = ofType(each, 'AWS::ApplicationAutoScaling::ScalingPolicy').map(
      ({ properties }) => properties.TargetTrackingScalingPolicyConfiguration as never,
    );
    const own = (MetricName: string) => ({
      CustomizedMetricSpecification: { Namespace: 'Reelay', MetricName, Statistic: 'Average' },
    });
    expect(policies).toMatchObject([
      { PredefinedMetricSpecification: { PredefinedMetricType: 'ECSServiceAverageCPUUtilization' }, TargetValue: 60 },
      { ...own('Streams'), TargetValue: 60 * cores },
      { ...own('BytesSent'), TargetValue: 3.6e9 * cores },
    ]);
  });

  it('keeps its VPC origin free of tags, for any change of it fails', () =>
    expect(only(of, 'AWS::CloudFront::VpcOrigin').Tags).toBeUndefined());

  it('stands in zones that VPC origins work in, where the region has others', () => {
    const zones = ofType(placed('team'), 'AWS::EC2::Subnet').map(({ properties }) => [
      properties.AvailabilityZone,
      properties.AvailabilityZoneId,
    ]);
    expect(zones).toEqual([1, 2, 1, 2].map((number) => [undefined, `use1-az${number}`]));
  });
});

describe('a stream host on demand', () => {
  const of = template('hobby');

  it('falls back on waking where nothing answers, never on what a source did', () => {
    const { OriginGroups, Origins } = distribution(of);
    expect(OriginGroups?.Items).toMatchObject([
      {
        FailoverCriteria: { StatusCodes: { Items: [503, 504] } },
        Members: { Items: [{ OriginId: 'stream' }, { OriginId: 'wake' }] },
      },
    ]);
    expect(Origins.find(({ Id }) => Id === 'stream')).toMatchObject({
      ConnectionAttempts: 1,
      ConnectionTimeout: 2,
      CustomOriginConfig: { HTTPPort: 8080, OriginProtocolPolicy: 'http-only' },
    });
    expect(only(of, 'AWS::Lambda::Url')).toMatchObject({ AuthType: 'AWS_IAM' });
  });

  it('admits CloudFront alone to a task', () =>
    expect(only(of, 'AWS::EC2::SecurityGroupIngress')).toMatchObject({
      FromPort: 8080,
      ToPort: 8080,
      SourcePrefixListId: expect.anything(),
    }));

  it('goes in order: the edge, waking, the tasks, then what they stood on', () => {
    expect(standsOn(of, 'AWS::CloudFront::Distribution', /./)).toContain('StreamsWake');
    expect(standsOn(of, 'AWS::Lambda::Function', /^StreamsWake/)).toContain('StreamsTasksStopped');
    const stopped = standsOn(of, 'Custom::StopTasks', /./);
    for (const id of ['TaskCluster', 'StreamsTaskGroup', 'NetworkVpc', 'StreamsStopper']) expect(stopped).toContain(id);
  });

  it('is found through the store, which is put right by every change of a task and every ten minutes', () => {
    expect(only(of, 'AWS::CloudFront::Function').FunctionConfig).toMatchObject({ KeyValueStoreAssociations: [{}] });
    const rules = ofType(of, 'AWS::Events::Rule').filter(({ id }) => id.startsWith('Streams'));
    expect(rules.map(({ properties }) => properties.ScheduleExpression ?? properties.EventPattern)).toEqual([
      expect.objectContaining({ source: ['aws.ecs'] }),
      'rate(10 minutes)',
    ]);
  });

  it('is woken ahead by the resolver', () => {
    const resolver = ofType(of, 'AWS::Lambda::Function').find(({ id }) => id.startsWith('ApiResolver'));
    expect(resolver?.properties.Environment).toMatchObject({
      Variables: { WAKE_FUNCTION: { Ref: expect.stringMatching(/^StreamsWake/) } },
    });
  });
});

describe('the firewall', () => {
  it('is there in public alone, in us-east-1', () => {
    expect(somewhere.public.stacks).toEqual(['reelay-blue-edge', 'reelay-blue']);
    expect(ofType(placed('public'), 'AWS::WAFv2::WebACL')).toEqual([]);
    expect(distribution(placed('public')).WebACLId).toMatchObject({ 'Fn::GetStackOutput': expect.anything() });
    expect(ofType(template('public'), 'AWS::WAFv2::WebACL')).toHaveLength(1);
    for (const name of ['hobby', 'team'] as const) expect(distribution(template(name)).WebACLId).toBeUndefined();
  });

  it('counts by path, whatever the case, and never reads the query', () => {
    const [acl] = ofType(somewhere.public.templates['reelay-blue-edge'] ?? { Resources: {} }, 'AWS::WAFv2::WebACL');
    expect(acl?.properties.Scope).toBe('CLOUDFRONT');
    const rules = acl?.properties.Rules as never as { Statement: { RateBasedStatement: Record<string, never> } }[];
    const counted = rules.map(({ Statement: { RateBasedStatement: rate } }) => [
      rate.Limit,
      rate.EvaluationWindowSec,
      rate.ScopeDownStatement,
    ]);
    const path = (SearchString: string) => ({
      ByteMatchStatement: {
        FieldToMatch: { UriPath: {} },
        PositionalConstraint: 'STARTS_WITH',
        SearchString,
        TextTransformations: [{ Priority: 0, Type: 'LOWERCASE' }],
      },
    });
    expect(counted).toEqual([
      [300, 300, path('/api/fetch/')],
      [3000, 300, path('/api/stream/')],
    ]);
  });
});

describe('what settings change', () => {
  it('tells an e-mail address of every alarm and of the budget', () => {
    const of = placed('public');
    expect(only(of, 'AWS::SNS::Subscription')).toMatchObject({ Protocol: 'email', Endpoint: 'ops@example.com' });
    for (const { properties } of ofType(of, 'AWS::CloudWatch::Alarm')) expect(properties.AlarmActions).toHaveLength(1);
    expect(only(of, 'AWS::Budgets::Budget').NotificationsWithSubscribers).toHaveLength(3);
    expect(ofType(template('public'), 'AWS::SNS::Topic')).toEqual([]);
  });

  it('gives every function and the task the architecture', () => {
    for (const { properties } of ofType(placed('team'), 'AWS::Lambda::Function')) {
      if (String(properties.Description).startsWith('Reelay')) expect(properties.Architectures).toEqual(['arm64']);
    }
    expect(only(placed('team'), 'AWS::ECS::TaskDefinition')).toMatchObject({
      RuntimePlatform: { CpuArchitecture: 'ARM64' },
    });
  });

  it('lets the resolver and the task read the secret that is named, and nobody any other', () => {
    const secrets = resourcesOf(placed('public'), 'secretsmanager:GetSecretValue');
    expect(secrets).toEqual({ ApiResolverRole: [SECRET], TaskTaskRole: [SECRET] });
    expect(resourcesOf(template('public'), 'secretsmanager:GetSecretValue')).toEqual({});
    const resolver = ofType(placed('public'), 'AWS::Lambda::Function').find(({ id }) => id.startsWith('ApiResolver'));
    expect(resolver?.properties.Environment).toMatchObject({ Variables: { COOKIES_SECRET: SECRET } });
  });

  it('answers at a domain of its own, by modern TLS alone', () => {
    expect(distribution(placed('team'))).toMatchObject({
      Aliases: ['media.example.com'],
      ViewerCertificate: { AcmCertificateArn: DOMAIN.certificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
    const { Outputs } = placed('team') as Template & { Outputs: Record<string, { Value: unknown }> };
    expect(Outputs.BaseUrl?.Value).toBe('https://media.example.com');
  });
});
