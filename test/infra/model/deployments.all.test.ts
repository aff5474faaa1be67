import { expect, it } from 'vitest';
import type { Template } from '../permissions.ts';
import { changeOf, expectSound, type Name, templateOf } from './changes.ts';
import { findProblems } from './rules.ts';

it.each<[from: Name, to: Name]>([
  ['hobby', 'rotated hobby'],
  ['team', 'rotated team'],
  ['rotated team', 'team in other zones'],
  ['public, 2 provisioned', 'public, 5 provisioned'],
  ['public, 5 provisioned', 'team, 1 provisioned'],
  ['team, 1 provisioned', 'hobby'],
  ['hobby', 'public, 3 provisioned'],
  ['nothing', 'private hobby, to change'],
  ['private hobby, to change', 'private team, to change'],
  ['private hobby, to change', 'hobby'],
  ['private team, to change', 'team'],
  ['private hobby, to change', 'team'],
  ['hobby', 'hobby with a pinned release'],
  ['nothing', 'hobby built in the account'],
])(
  'a deployment, its rollback and its cleanup are accepted, wait for what they need, and leave nothing: %s ↔ %s',
  expectSound,
);

type Resources = Record<string, { Type: string; Properties: Record<string, unknown>; DependsOn?: string[] }>;
/** Spoils one template, or both where it stays as it is. */
type Spoil = (next: Resources, former: Resources) => void;

const ofType = (resources: Resources, type: string) =>
  Object.entries(resources).flatMap(([id, each]) => (each.Type === type ? [{ id, ...each, each }] : []));
/** Resources of these types wait for what they refer to, and for nothing else. */
const hasty =
  (...types: string[]): Spoil =>
  (next) => {
    for (const type of types) for (const { each } of ofType(next, type)) each.DependsOn = [];
  };
/** The installation is not told of a change of the resolver. */
const untold: Spoil = (next) => {
  for (const [id, { Properties }] of Object.entries(next))
    if (/^ApiResolver\w{8}$/.test(id)) Properties.MemorySize = 4096;
};
/** Functions whose id begins so have other properties, in both templates. */
const functionOf =
  (start: string, properties: Record<string, unknown>): Spoil =>
  (...both) => {
    for (const each of both.flatMap(Object.entries<Resources[string]>))
      if (each[0].startsWith(start) && each[1].Type === 'AWS::Lambda::Function')
        Object.assign(each[1].Properties, properties);
  };
/** Resources of a type have not what bounds how long they are waited for. */
const without =
  (type: string): Spoil =>
  (next) => {
    for (const { each } of ofType(next, type)) {
      delete each.Properties.ServiceTimeout;
      delete each.Properties.DeploymentConfiguration;
    }
  };

/** Another resource beside the first one of a type. */
const doubled =
  (type: string): Spoil =>
  (next) => {
    const [found] = ofType(next, type);
    if (found) next.Another = found.each;
  };

/** A right of a role is in a policy of its own. */
const granted =
  (role: string): Spoil =>
  (next) => {
    const [id] = Object.keys(next).filter((each) => each.startsWith(role));
    next.Another = { Type: 'AWS::IAM::Policy', Properties: { Roles: [{ Ref: id }] } };
  };

const BROKEN: readonly (readonly [problem: string, from: Name, to: Name, spoil: Spoil])[] = [
  [
    'create StreamsOnDemandService, ok: it does not wait for the internet',
    'nothing',
    'hobby',
    hasty('AWS::ECS::Service'),
  ],
  ['create StreamsOnDemandService, ok: .* a route to', 'nothing', 'hobby', hasty('AWS::ECS::Service')],
  ['create Streams\\w*Service, ok: .* the tools that', 'hobby', 'team', hasty('AWS::ECS::Service')],
  ['create ApiHttp\\w+Permission\\w*, ok: .* the alias', 'nothing', 'team', hasty('AWS::Lambda::Permission')],
  [
    'create ApiHttpANYapiFetchGetResource, ok: .* the alias',
    'nothing',
    'team',
    hasty('AWS::ApiGatewayV2::Route', 'AWS::ApiGatewayV2::Integration'),
  ],
  ['create ToolUpdates\\w+, ok: .* the end of the installation', 'nothing', 'hobby', hasty('AWS::Events::Rule')],
  [
    'create MonitoringAlarmsResolvesFailing, ok: .* a run that begins behind',
    'nothing',
    'hobby',
    hasty('AWS::CloudWatch::Alarm'),
  ],
  ['delete ToolsInPlace, in flight: it cannot wait', 'hobby', 'nothing', functionOf('ToolsLayer', { Timeout: 300 })],
  ['create Streams\\w*Service, no quota: .* for hours', 'nothing', 'hobby', without('AWS::ECS::Service')],
  [
    'create MonitoringCostGuardFunction, no quota: it reserves',
    'nothing',
    'hobby',
    functionOf('MonitoringCostGuardFunction', { ReservedConcurrentExecutions: 2 }),
  ],
  [
    'create OriginSecret, no answer: it has no time',
    'nothing',
    'hobby',
    functionOf('OriginSecretMaker', { Timeout: 10 }),
  ],
  [
    'create ToolsInPlace, no answer: it ends after the deadline',
    'nothing',
    'hobby',
    functionOf('ToolsLayer', { Timeout: 900 }),
  ],
  ['create OriginSecret, no answer: a missing', 'nothing', 'hobby', without('Custom::OriginSecret')],
  [
    'create TaskImage, late: it acts before Another',
    'nothing',
    'hobby built in the account',
    granted('DeployTimeBuild'),
  ],
  ['create ToolsInPlace, ok: .* what empties the bucket', 'nothing', 'hobby', hasty('Custom::ToolsLayer')],
  ['create TaskEcsRole, late: it acts before Another', 'nothing', 'team', granted('SdkCallsRole')],
  ['create Streams\\w*Service, late: it acts before Another', 'nothing', 'hobby', granted('TaskExecutionRole')],
  ['create EdgeRoute\\w+, ok: .* the keys', 'hobby', 'private hobby, to change', hasty('AWS::CloudFront::Function')],
  [
    'update EdgeDistribution, ok: .* the stream host that it leads to',
    'hobby',
    'team',
    hasty('AWS::CloudFront::Distribution'),
  ],
  [
    'update EdgeDistribution, ok: .* its right to invoke what it leads to: StreamsWake',
    'team',
    'hobby',
    hasty('AWS::CloudFront::Distribution'),
  ],
  ['create Another, ok: Name is that of \\w+', 'hobby', 'hobby', doubled('AWS::CloudFront::KeyValueStore')],
  ['create Another, ok: its block overlaps', 'hobby', 'hobby', doubled('AWS::EC2::Subnet')],
  [
    'update Table, ok: a resource cannot change its type',
    'hobby',
    'hobby',
    (next) => {
      for (const { each } of ofType(next, 'AWS::DynamoDB::GlobalTable')) each.Type = 'AWS::DynamoDB::Table';
    },
  ],
  ['update ApiResolver, ok: no version of it', 'hobby', 'hobby', untold],
  ['create \\w+, fails: it stays', 'nothing', 'hobby with a retained table', () => undefined],
  ['delete \\w+, deleted: it stays', 'hobby with a retained table', 'nothing', () => undefined],
  [
    'create ToolsBucket, fails: nothing empties it',
    'nothing',
    'hobby',
    (next) => {
      for (const { id } of ofType(next, 'Custom::S3AutoDeleteObjects')) delete next[id];
    },
  ],
  [
    'create Another, answered: .*"Other',
    'hobby',
    'hobby',
    (next) => {
      next.Another = {
        Type: 'AWS::S3::BucketPolicy',
        Properties: { Bucket: { 'Fn::GetAtt': ['OriginSecret', 'Other'] } },
      };
    },
  ],
];

it.each(BROKEN)('finds what is broken: %s, from %s to %s', async (problem, from, to, spoil) => {
  const [former, next] = structuredClone([await templateOf(from), await templateOf(to)]);
  spoil(next?.Resources as Resources, former?.Resources as Resources);
  const found = findProblems(changeOf(former as Template, next as Template));
  expect(found.map((each) => each.replaceAll(/[0-9A-F]{8}\b/g, ''))).toContainEqual(
    expect.stringMatching(new RegExp(`^${problem}`)),
  );
});
