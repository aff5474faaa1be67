import type { Usage } from './bill.ts';
import { HOURS_PER_MONTH } from './prices.ts';

/** A CloudFormation template, as far as the bill reads it. */
export interface Template {
  readonly Resources?: Readonly<Record<string, Resource>>;
}

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** What one resource costs by standing there, used or not. */
type FixedCost = (properties: Readonly<Record<string, unknown>>, resources: readonly Resource[]) => readonly Usage[];

/** What a task is made of. */
export interface TaskSize {
  readonly vcpus: number;
  readonly gib: number;
  readonly isArm: boolean;
}

/** Resources that cost something by standing there. Sizes of images and archives are what they were measured at. */
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
  // Target tracking makes two of its own: to add, and to take away.
  'AWS::ApplicationAutoScaling::ScalingPolicy': () => [['alarms', 2]],
  'AWS::CloudWatch::Dashboard': () => [['dashboards', 1]],
  'AWS::SecretsManager::Secret': () => [['secrets', 1]],
  'AWS::ECS::TaskDefinition': () => [['images', 0.35]],
  'AWS::S3::Bucket': () => [['buckets', 0.1]],
};

/** Services whose resources cost nothing by standing there; what they do is in the traffic. */
const FREE_TYPES =
  /^(AWS::(ApiGatewayV2|ApplicationAutoScaling|Budgets|CDK|CertificateManager|CloudFront|DynamoDB|EC2|Events|IAM|Lambda|Logs|SNS|SSM|Scheduler)::|AWS::ECS::(Cluster|ClusterCapacityProviderAssociations)|AWS::ElasticLoadBalancingV2::|AWS::S3::BucketPolicy|Custom::|AWS::CloudFormation::CustomResource)/;
/** Things of those services that do cost by the hour, and that no stack of ours has. */
const UNUSED_PAID_TYPES = /^AWS::EC2::(NatGateway|EIP|Instance|VPCEndpointService|TransitGateway)/;

/** A template has something that the price table does not know: a bill without it would not be true. */
export class UnpricedResource extends Error {
  override readonly name = 'UnpricedResource';
}

/**
 * What a stack costs by standing there for a month.
 * @throws UnpricedResource
 */
export function fixedUsage(template: Template): Usage[] {
  const resources = Object.values(template.Resources ?? {});
  return resources.flatMap(({ Type, Properties = {} }) => {
    const standing = FIXED_COSTS[Type];
    if (standing) return [...standing(Properties, resources)];
    const isInterface = Type === 'AWS::EC2::VPCEndpoint' && Properties.VpcEndpointType === 'Interface';
    if (isInterface || UNUSED_PAID_TYPES.test(Type) || !FREE_TYPES.test(Type))
      throw new UnpricedResource(`No price is known of ${Type}`);
    return [];
  });
}

/** What tasks of a size cost for so many hours, each with a public address. */
export const taskUsage = ({ vcpus, gib, isArm }: TaskSize, hours: number): Usage[] => [
  [isArm ? 'taskVcpuArm' : 'taskVcpuX86', vcpus * hours],
  [isArm ? 'taskMemoryArm' : 'taskMemoryX86', gib * hours],
  ['publicAddress', hours],
];

/** The stream task of a stack. */
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

/** The lower bound of scaling where there is one. */
function countPermanentTasks(resources: readonly Resource[]): number {
  const of = (type: string) => resources.find(({ Type }) => Type === type)?.Properties;
  return Number(
    of('AWS::ApplicationAutoScaling::ScalableTarget')?.MinCapacity ?? of('AWS::ECS::Service')?.DesiredCount,
  );
}

/** An alarm over an expression pays for each metric in it. */
const countAlarmMetrics = (metrics: unknown): number =>
  Array.isArray(metrics) ? Math.max(1, metrics.filter((one) => 'MetricStat' in one).length) : 1;
