import type { Usage } from './bill.ts';
import { HOURS_PER_MONTH } from './prices.ts';

/** The parts of a CloudFormation template that the cost report reads. */
export interface Template {
  readonly Resources?: Readonly<Record<string, Resource>>;
}

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** Monthly usage that one resource causes whether or not it is used. */
type FixedCost = (properties: Readonly<Record<string, unknown>>, resources: readonly Resource[]) => readonly Usage[];

/** Size of a Fargate task. */
export interface TaskSize {
  readonly vcpus: number;
  readonly gib: number;
  readonly isArm: boolean;
}

/** Resource types with a fixed monthly cost. Sizes of images and archives in GB are measured. */
const FIXED_COSTS: Readonly<Record<string, FixedCost>> = {
  'AWS::ECS::Service': (_, resources) => {
    const size = findTaskSize(resources);
    return size ? taskUsage(size, countPermanentTasks(resources) * HOURS_PER_MONTH) : [];
  },
  'AWS::ElasticLoadBalancingV2::LoadBalancer': () => [['loadBalancer', HOURS_PER_MONTH]],
  'AWS::WAFv2::WebACL': ({ Rules }) => [
    ['firewall', 1],
    ['firewallRules', Array.isArray(Rules) ? Rules.length : 0],
  ],
  'AWS::CloudWatch::Alarm': ({ Metrics }) => [['alarms', countAlarmMetrics(Metrics)]],
  // Each target-tracking policy creates two alarms: for scaling out and in.
  'AWS::ApplicationAutoScaling::ScalingPolicy': () => [['alarms', 2]],
  'AWS::CloudWatch::Dashboard': () => [['dashboards', 1]],
  'AWS::SecretsManager::Secret': () => [['secrets', 1]],
  // Runs of the cost guard: each reads two metrics while nobody uses the service.
  'AWS::Events::Rule': ({ ScheduleExpression }, resources) =>
    ScheduleExpression === 'rate(1 minute)' ? guardUsage(resources) : [],
  'AWS::ECS::TaskDefinition': () => [['images', 0.12]],
  'AWS::S3::Bucket': () => [['buckets', 0.1]],
  // The custom resource provisions environments of the resolver.
  'Custom::ToolsLayer': ({ provisioned }, resources) => provisionedUsage(Number(provisioned), resources),
};

/** Resource types without a fixed cost; their use is part of the traffic. */
const FREE_TYPES =
  /^(AWS::(ApiGatewayV2|ApplicationAutoScaling|Budgets|CDK|CertificateManager|CloudFront|DynamoDB|EC2|Events|IAM|Lambda|Logs|PricingPlanManager|SNS|SSM|Scheduler)::|AWS::ECS::(Cluster|ClusterCapacityProviderAssociations)|AWS::ElasticLoadBalancingV2::|AWS::S3::BucketPolicy|Custom::|AWS::CloudFormation::CustomResource)/;
/** Types of those services that do have a fixed cost, and that no stack contains. */
const UNUSED_PAID_TYPES = /^AWS::EC2::(NatGateway|EIP|Instance|VPCEndpointService|TransitGateway)/;

/** A template contains a resource type without a known price, so the report would be incomplete. */
export class UnpricedResource extends Error {
  override readonly name = 'UnpricedResource';
}

/**
 * Monthly usage of a stack without any traffic.
 * @throws UnpricedResource when the price of a resource type is unknown
 */
export function fixedUsage(template: Template): Usage[] {
  const resources = Object.values(template.Resources ?? {});
  return resources.flatMap(({ Type, Properties = {} }) => {
    const fixedCost = FIXED_COSTS[Type];
    if (fixedCost) return [...fixedCost(Properties, resources)];
    const isInterface = Type === 'AWS::EC2::VPCEndpoint' && Properties.VpcEndpointType === 'Interface';
    if (isInterface || UNUSED_PAID_TYPES.test(Type) || !FREE_TYPES.test(Type))
      throw new UnpricedResource(`No price is known for ${Type}`);
    return [];
  });
}

const GUARD_RUNS = HOURS_PER_MONTH * 60;
const GUARD_SECONDS = 0.3;
const GUARD_GIB = 0.25;
const DOORS = 2;

function guardUsage(resources: readonly Resource[]): Usage[] {
  const architectures = resources.find(({ Type }) => Type === 'AWS::Lambda::Function')?.Properties?.Architectures;
  const isArm = Array.isArray(architectures) && architectures.includes('arm64');
  return [
    ['functionRequests', GUARD_RUNS / 1e6],
    [isArm ? 'functionTimeArm' : 'functionTimeX86', GUARD_RUNS * GUARD_SECONDS * GUARD_GIB],
    ['tableReads', GUARD_RUNS / 1e6],
    ['metricReads', (GUARD_RUNS * DOORS) / 1e3],
    ['traces', GUARD_RUNS / 1e6],
  ];
}

/** Usage of environments of the resolver that are always initialized. */
function provisionedUsage(count: number, resources: readonly Resource[]): Usage[] {
  const resolver = resources.find(({ Properties }) => Properties?.Description === 'Reelay get-resource');
  if (!(count > 0) || !resolver) return [];
  const { MemorySize, Architectures } = resolver.Properties as { MemorySize: number; Architectures?: string[] };
  const meter = Architectures?.includes('arm64') ? 'provisionedTimeArm' : 'provisionedTimeX86';
  return [[meter, (count * MemorySize * HOURS_PER_MONTH * 3_600) / 1024]];
}

/** Usage of task hours, each task with a public address. */
export const taskUsage = ({ vcpus, gib, isArm }: TaskSize, hours: number): Usage[] => [
  [isArm ? 'taskVcpuArm' : 'taskVcpuX86', vcpus * hours],
  [isArm ? 'taskMemoryArm' : 'taskMemoryX86', gib * hours],
  ['publicAddress', hours],
];

/** Size of the stack's stream task; undefined without one. */
export function findTaskSize(resources: readonly Resource[]): TaskSize | undefined {
  const { Properties } = resources.find(({ Type }) => Type === 'AWS::ECS::TaskDefinition') ?? {};
  if (!Properties) return undefined;
  const { CpuArchitecture } = (Properties.RuntimePlatform ?? {}) as { CpuArchitecture?: string };
  return {
    vcpus: Number(Properties.Cpu) / 1024,
    gib: Number(Properties.Memory) / 1024,
    isArm: CpuArchitecture === 'ARM64',
  };
}

/** Minimum of auto scaling, or the desired count. */
function countPermanentTasks(resources: readonly Resource[]): number {
  const of = (type: string) => resources.find(({ Type }) => Type === type)?.Properties;
  return Number(
    of('AWS::ApplicationAutoScaling::ScalableTarget')?.MinCapacity ?? of('AWS::ECS::Service')?.DesiredCount,
  );
}

/** An alarm on a metric expression is billed per metric in it. */
const countAlarmMetrics = (metrics: unknown): number =>
  Array.isArray(metrics) ? Math.max(1, metrics.filter((one) => 'MetricStat' in one).length) : 1;
