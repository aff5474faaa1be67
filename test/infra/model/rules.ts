import type { Resource, Template } from '../permissions.ts';
import { allReferencesOf, referencesIn } from '../template.ts';
import type { Change, Version } from './change.ts';

/** What a deployment, its rollback, its cleanup or a deletion does with a resource. */
export const ACTIONS = ['create', 'update', 'replace', 'delete'] as const;
type Action = (typeof ACTIONS)[number];

/** One resource of a change, and what happens to it. */
export interface Cell {
  readonly change: Change;
  readonly action: Action;
  readonly id: string;
  readonly resource: Resource;
  /** That the resource is of: the former one where it is deleted. */
  readonly template: Template;
}

/** What is wrong with a resource whose action ends in this way; nothing: undefined. */
type Rule = (cell: Cell) => string | undefined;

/** Types that AWS identifies by these properties: a second resource with the same values is refused. */
const UNIQUE_PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGatewayV2::Route': ['ApiId', 'RouteKey'],
  'AWS::ApiGatewayV2::Stage': ['ApiId', 'StageName'],
  'AWS::ApplicationAutoScaling::ScalableTarget': ['ResourceId', 'ScalableDimension'],
  'AWS::CloudFront::Function': ['Name'],
  'AWS::CloudFront::KeyValueStore': ['Name'],
  'AWS::CloudFront::CachePolicy': ['CachePolicyConfig.Name'],
  'AWS::CloudFront::OriginAccessControl': ['OriginAccessControlConfig.Name'],
  'AWS::CloudFront::ResponseHeadersPolicy': ['ResponseHeadersPolicyConfig.Name'],
  'AWS::CloudFront::VpcOrigin': ['VpcOriginEndpointConfig.Name'],
  'AWS::CloudWatch::Dashboard': ['DashboardName'],
  'AWS::EC2::Route': ['RouteTableId', 'DestinationCidrBlock'],
  'AWS::EC2::SubnetRouteTableAssociation': ['SubnetId'],
  'AWS::EC2::VPCGatewayAttachment': ['VpcId'],
  'AWS::ECS::Service': ['Cluster', 'ServiceName'],
  'AWS::ElasticLoadBalancingV2::Listener': ['LoadBalancerArn', 'Port'],
  'AWS::Lambda::EventInvokeConfig': ['FunctionName', 'Qualifier'],
  'AWS::Lambda::Function': ['FunctionName'],
  'AWS::Lambda::Url': ['TargetFunctionArn', 'Qualifier'],
  'AWS::S3::BucketPolicy': ['Bucket'],
};

/** Whether a resource needs others that it does not name: they are complete before it, and deleted after it. */
type Need = readonly [who: (resource: Resource) => boolean, needs: (cell: Cell, other: Resource) => boolean];
const ofType =
  (...types: string[]) =>
  ({ Type }: Resource) =>
    types.some((type) => Type === type || Type === `AWS::${type}`);
const names = (resource: Resource, text: string) => JSON.stringify(resource.Properties ?? {}).includes(text);
const invokes = ({ Properties = {} }: Resource, id: string) =>
  JSON.stringify(Properties.Targets ?? Properties.AlarmActions ?? []).includes(id);
const isBalanced = ({ Properties = {} }: Resource) => [Properties.LoadBalancers ?? []].flat().length > 0;
const NEEDS: Readonly<Record<string, Need>> = {
  'the internet, where tasks fetch their image, and which maps their addresses': [
    ofType('ECS::Service', 'CloudFront::VpcOrigin'),
    (_, other) => ofType('EC2::VPCGatewayAttachment')(other),
  ],
  'a route to the internet': [ofType('ECS::Service'), (_, other) => ofType('EC2::Route')(other)],
  'the alias that the installation creates': [
    (resource) =>
      (ofType('Lambda::Permission')(resource) && names(resource, ':live')) ||
      (ofType('ApiGatewayV2::Route')(resource) && names(resource, '"ANY /')),
    (_, other) => ofType('Custom::ToolsLayer')(other),
  ],
  'the tools that its tasks read': [
    (resource) => ofType('ECS::Service')(resource) && isBalanced(resource),
    (_, other) => ofType('Custom::ToolsLayer')(other),
  ],
  'the end of the installation, which it would meet, as would a run that begins behind its deletion': [
    (resource) => ofType('Events::Rule', 'CloudWatch::Alarm')(resource) && invokes(resource, 'ToolUpdates'),
    (_, other) => ofType('Custom::ToolsLayer')(other),
  ],
  'what empties the bucket after the last writer': [
    ofType('Custom::ToolsLayer'),
    (_, other) => ofType('Custom::S3AutoDeleteObjects')(other) && names(other, 'ToolsBucket'),
  ],
  'the keys, without which the edge admits nobody': [
    (resource) => ofType('CloudFront::Function')(resource) && names(resource, 'x-reelay-access'),
    (_, other) => ofType('Custom::AccessKeys')(other),
  ],
  'the stream host that it leads to': [
    ofType('CloudFront::Distribution'),
    (_, other) => ofType('ECS::Service', 'ElasticLoadBalancingV2::Listener')(other),
  ],
  'its right to invoke what it leads to': [
    ofType('CloudFront::Distribution'),
    (_, other) => ofType('Lambda::Permission')(other) && other.Properties?.Principal === 'cloudfront.amazonaws.com',
  ],
};

/** What acts by its role as soon as it is created: a function that a custom resource invokes, and tasks that fetch their image. */
const ACTING: readonly (readonly [who: (resource: Resource) => boolean, roleOf: (cell: Cell) => unknown])[] = [
  [({ Type }) => Type.startsWith('Custom::'), (cell) => propertyOf(cell, 'ServiceToken', 'Role')],
  [ofType('ECS::Service'), (cell) => propertyOf(cell, 'TaskDefinition', 'ExecutionRoleArn')],
];
/** A property of the resource that another property refers to. */
function propertyOf({ template, resource }: Cell, reference: string, property: string): unknown {
  const [id = ''] = referencesIn(resource.Properties?.[reference]);
  return template.Resources[id]?.Properties?.[property];
}

/** What a new account may have none of must fail soon, or not be asked for. */
const needsQuota: Rule = ({ resource: { Type, Properties = {} } }) => {
  const { DeploymentConfiguration, ReservedConcurrentExecutions } = Properties;
  if (Type === 'AWS::ECS::Service' && !Object(DeploymentConfiguration).DeploymentCircuitBreaker?.Rollback)
    return 'its tasks are waited for, for hours';
  return ReservedConcurrentExecutions ? 'it reserves executions' : undefined;
};

/** Seconds. CloudFormation waits an hour by default; the last ten of a function are for its response (`customResource`). */
const [LONGEST_WAIT, RESPONSE_RESERVE] = [3_600, 10];
/** What a call of AWS may take. */
const LEAST_WORK = 10;

/** The function of a custom resource must respond while it is waited for, and have time to work before. */
const deadline: Rule = (cell) => {
  const { Type, Properties: { ServiceTimeout } = {} } = cell.resource;
  if (!Type.startsWith('Custom::')) return undefined;
  const seconds = Number(propertyOf(cell, 'ServiceToken', 'Timeout') ?? 3);
  if (seconds >= Number(ServiceTimeout ?? LONGEST_WAIT)) return 'it ends after the deadline of its custom resource';
  const isOwn = String(propertyOf(cell, 'ServiceToken', 'Description')).startsWith('Reelay ');
  if (isOwn && ServiceTimeout === undefined) return 'a missing response is waited for, for an hour';
  return isOwn && seconds < RESPONSE_RESERVE + LEAST_WORK ? 'it has no time to work' : undefined;
};

/** A run of the tools update that is in progress writes layer versions and objects until its lease ends. */
const metByRun: Rule = (cell) => {
  if (cell.resource.Type !== 'Custom::ToolsLayer') return undefined;
  const run = Object.entries(cell.template.Resources).find(
    ([id, other]) => ofType('Lambda::Function')(other) && id.startsWith('ToolUpdates'),
  );
  const longest = Number(run?.[1].Properties?.Timeout);
  return Number(propertyOf(cell, 'ServiceToken', 'Timeout')) < longest ? 'it cannot wait for a run to end' : undefined;
};

/** A policy takes effect up to a minute after it is created, one of a role with its role. */
const lateRights: Rule = (cell) => {
  const roles = ACTING.filter(([who]) => who(cell.resource)).flatMap(([, roleOf]) => referencesIn(roleOf(cell)));
  const late = Object.entries(cell.template.Resources).find(
    ([, other]) =>
      ofType('IAM::Policy')(other) && referencesIn(other.Properties?.Roles).some((role) => roles.includes(role)),
  );
  return late && `it acts before ${late[0]} takes effect`;
};

function missingNeeds(cell: Cell): string | undefined {
  const { template, id, resource } = cell;
  const before = allReferencesOf(template, id);
  const missing = Object.entries(NEEDS).flatMap(([what, [who, needs]]) => {
    const [other] =
      (who(resource) &&
        Object.entries(template.Resources).find(([other, each]) => needs(cell, each) && !before.has(other))) ||
      [];
    return other ? [`it does not wait for ${what}: ${other}`] : [];
  });
  return missing.join('; ') || undefined;
}

const readPath = (properties: unknown, path: string): unknown =>
  path.split('.').reduce((value: unknown, key) => Object(value)[key], properties);

/** Values of a version, in which the names of replaced resources differ. */
const valueIn = (change: Change, version: Version, value: unknown) =>
  JSON.stringify([value, referencesIn(value).map((id) => change.nameOf(id, version))]);

/** The resources that exist beside a new one until the cleanup, or until the end of a rollback. */
const others = ({ change, id, resource }: Cell) =>
  (['former', 'next'] as const).flatMap((version) =>
    Object.entries(change[version].Resources)
      .filter(([other, { Type }]) => Type === resource.Type && (other !== id || isOther(change, id, version)))
      .map(([other, { Properties = {} }]) => ({ other, version, Properties })),
  );
const isOther = (change: Change, id: string, version: Version) => version === 'former' && change.isReplaced(id);

function conflict(cell: Cell): string | undefined {
  const { change, resource } = cell;
  const unique = UNIQUE_PROPERTIES[resource.Type] ?? [];
  const identity = (properties: unknown, version: Version) =>
    JSON.stringify(unique.map((path) => valueIn(change, version, readPath(properties, path))));
  if (unique.some((path) => readPath(resource.Properties, path) !== undefined)) {
    const own = identity(resource.Properties, 'next');
    const same = others(cell).find(({ Properties, version }) => identity(Properties, version) === own);
    if (same) return `${unique} is that of ${same.other}`;
  }
  if (resource.Type !== 'AWS::EC2::Subnet') return undefined;
  const { VpcId, CidrBlock } = resource.Properties ?? {};
  const vpc = valueIn(change, 'next', VpcId);
  const overlapping = others(cell).find(
    ({ Properties, version }) =>
      valueIn(change, version, Properties.VpcId) === vpc && overlaps(Properties.CidrBlock, CidrBlock),
  );
  return overlapping && `its block overlaps with ${overlapping.other}`;
}

function overlaps(one: unknown, two: unknown): boolean {
  const [a, b] = [toRange(one), toRange(two)];
  return a.first < b.end && b.first < a.end;
}

function toRange(block: unknown) {
  const [address = '', bits] = String(block).split('/');
  const first = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  return { first, end: first + 2 ** (32 - Number(bits)) };
}

const unanswered: Rule = ({ resource }) => /\["OriginSecret","(?!Secret")\w+/.exec(JSON.stringify(resource))?.[0];

/** Of a function: what a published version keeps. */
const KEPT = ['Code', 'Handler', 'Runtime', 'Architectures', 'MemorySize', 'Timeout', 'Environment', 'Layers'];

/** Whether a value differs after a change, by its text or by what it refers to. */
const differs = (change: Change, id: string, names: readonly string[]) => {
  const of = (version: Version) => names.map((name) => change[version].Resources[id]?.Properties?.[name]);
  return (
    valueIn(change, 'former', of('former')) !== valueIn(change, 'next', of('next')) ||
    referencesIn(of('next')).some(change.isOther)
  );
};

/** The resolver serves by a version, which the installation publishes where one of its own properties changes. */
function unpublished({ change, id, template }: Cell): string | undefined {
  if (!/^ApiResolver\w{8}$/.test(id) || !differs(change, id, KEPT)) return undefined;
  const [installation, { Properties = {} }] = Object.entries(template.Resources).find(([, other]) =>
    ofType('Custom::ToolsLayer')(other),
  ) ?? ['', {}];
  return differs(change, installation, Object.keys(Properties)) ? undefined : 'no version of it is published';
}

/** The columns of the table: a further kind of failure is a further entry. */
export const OUTCOMES: Readonly<Record<string, Partial<Record<Action, readonly Rule[]>>>> = {
  /** AWS accepts it, and what it needs is there. */
  ok: {
    create: [conflict, missingNeeds],
    update: [
      conflict,
      missingNeeds,
      ({ change, id, resource }) =>
        change.former.Resources[id]?.Type === resource.Type ? undefined : 'a resource cannot change its type',
      unpublished,
    ],
    replace: [conflict, missingNeeds],
  },
  /** Its failure, or one of a later resource, is rolled back: what was created is deleted. */
  fails: {
    create: [leavesNothing],
    replace: [leavesNothing],
  },
  /** It is deleted in the cleanup, or with the stack. */
  deleted: { delete: [leavesNothing, missingNeeds] },
  /** A run of the tools update is in progress when it is deleted. Nothing starts another: `NEEDS`. */
  'in flight': { delete: [metByRun] },
  /** The account's quota for it is 0: CodeBuild's builds, tasks of Fargate, executions to reserve. */
  'no quota': { create: [needsQuota], update: [needsQuota], replace: [needsQuota] },
  /** What it calls does not answer. */
  'no answer': { create: [deadline], update: [deadline], replace: [deadline], delete: [deadline] },
  /** What it does takes effect later than it is complete. */
  late: { create: [lateRights], update: [lateRights], replace: [lateRights] },
  /** Every attribute that others read is one that is answered. */
  answered: {
    create: [unanswered],
    update: [unanswered],
  },
};

function leavesNothing({ template, id, resource }: Cell): string | undefined {
  if (resource.DeletionPolicy?.startsWith('Retain') || resource.UpdateReplacePolicy?.startsWith('Retain'))
    return 'it stays';
  if (resource.Type !== 'AWS::S3::Bucket') return undefined;
  const emptied = Object.values(template.Resources).some(
    (other) => ofType('Custom::S3AutoDeleteObjects')(other) && referencesIn(other.Properties).includes(id),
  );
  return emptied ? undefined : 'nothing empties it';
}

/** What is wrong with a change, one line for each cell of resource × action × outcome. */
export function findProblems(change: Change): string[] {
  return cellsOf(change).flatMap((cell) =>
    Object.entries(OUTCOMES).flatMap(([outcome, rules]) =>
      (rules[cell.action] ?? []).flatMap((rule) => {
        const problem = rule(cell);
        return problem ? [`${cell.action} ${cell.id}, ${outcome}: ${problem}`] : [];
      }),
    ),
  );
}

/** What a change does, by resource. */
export function cellsOf(change: Change): Cell[] {
  const { former, next } = change;
  const created = Object.entries(next.Resources).flatMap(([id, resource]): Cell[] => {
    if (!former.Resources[id]) return [{ change, action: 'create', id, resource, template: next }];
    if (change.isReplaced(id)) return [{ change, action: 'replace', id, resource, template: next }];
    return change.isChanged(id) ? [{ change, action: 'update', id, resource, template: next }] : [];
  });
  const deleted = Object.entries(former.Resources)
    .filter(([id]) => !next.Resources[id] || change.isReplaced(id))
    .map(([id, resource]): Cell => ({ change, action: 'delete', id, resource, template: former }));
  return [...created, ...deleted];
}
