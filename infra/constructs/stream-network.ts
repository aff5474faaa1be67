import { CfnElement, Stack, Token } from 'aws-cdk-lib';
import {
  type CfnSubnet,
  GatewayVpcEndpointAwsService,
  type ISubnet,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  type SubnetSelection,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { SettingError } from '../../core/config/index.ts';
import { allow, suppressNag } from './conventions.ts';
import { SdkCall } from './sdk-call.ts';

interface StreamNetworkProps {
  /** Whether to create isolated subnets for a load balancer. */
  readonly withBalancerSubnets: boolean;
  /** Zone ids. @default two that support VPC origins */
  readonly zones?: readonly string[] | undefined;
  /** A network of another stack. @default a new one */
  readonly vpc?: IVpc | undefined;
  readonly logDays: number;
}

/** Zones that support VPC origins, for regions where the first two may not. Ids, because zone names differ by account. */
const ZONES_WITH_VPC_ORIGINS: Readonly<Record<string, readonly string[]>> = {
  'us-east-1': ['use1-az1', 'use1-az2'],
  'us-west-1': ['usw1-az1', 'usw1-az3'],
  'ca-central-1': ['cac1-az1', 'cac1-az2'],
  'ap-northeast-1': ['apne1-az1', 'apne1-az4'],
};

const CLOUDFRONT_PREFIX_LIST_NAME = 'com.amazonaws.global.cloudfront.origin-facing';
const PREFIX_LIST_ID_PATH = 'PrefixLists.0.PrefixListId';

/**
 * The VPC of the stream tasks: two public subnets, gateway endpoints for S3 and DynamoDB and, for a load balancer, two
 * isolated subnets. There is no NAT gateway: all media would be charged for passing through it. A network that is given stays as it is.
 */
export class StreamNetwork extends Construct {
  readonly vpc: IVpc;
  /** For the load balancer. */
  readonly balancerSubnets: SubnetSelection;
  readonly #logDays: number;

  constructor(scope: Construct, id: string, { vpc, ...props }: StreamNetworkProps) {
    super(scope, id);
    this.#logDays = props.logDays;
    this.vpc = vpc ?? this.#createVpc(props);
    if (vpc) checkVpc(vpc, props);
    this.balancerSubnets = { subnets: balancerSubnetsOf(this.vpc) };
  }

  #createVpc({ withBalancerSubnets, zones }: StreamNetworkProps): Vpc {
    const balancerSubnets = { name: 'balancer', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 24 };
    const vpc = new Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: 0,
      // Needs a custom resource, and nothing uses the default security group.
      restrictDefaultSecurityGroup: false,
      subnetConfiguration: [
        { name: 'task', subnetType: SubnetType.PUBLIC, cidrMask: 20 },
        ...(withBalancerSubnets ? [balancerSubnets] : []),
      ],
      gatewayEndpoints: {
        S3: { service: GatewayVpcEndpointAwsService.S3 },
        DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB },
      },
    });
    suppressNag(vpc, {
      VPC7: 'The service logs every stream; flow logs of media traffic would cost more than the service',
    });

    const { region } = Stack.of(this);
    // In every profile, so that a change of profile does not replace the subnets.
    const usual = Token.isUnresolved(region) ? undefined : ZONES_WITH_VPC_ORIGINS[region];
    // CDK allocates the blocks of subnets without a zone id from 10.0.0.0: these begin behind them in 10.0.0.0/16.
    assignZones(vpc.publicSubnets, zones ?? usual, (zone) => `10.0.${48 + 16 * zone}.0/20`);
    assignZones(vpc.isolatedSubnets, zones ?? usual, (zone) => `10.0.${224 + zone}.0/24`);
    return vpc;
  }

  /** A security group that admits CloudFront on one port. Its prefix list counts as 55 of a group's 60 rules. */
  createGroupForCloudFront(scope: Construct, id: string, port: number): SecurityGroup {
    const group = new SecurityGroup(scope, id, { vpc: this.vpc, description: 'CloudFront alone gets in' });
    group.addIngressRule(Peer.prefixList(this.#prefixList(scope, `${id}Sources`)), Port.tcp(port), 'CloudFront');
    return group;
  }

  /** Id of CloudFront's prefix list, read at deployment: a look-up at synthesis would need credentials. */
  #prefixList(scope: Construct, id: string): string {
    const look = new SdkCall(scope, id, {
      call: {
        service: 'EC2',
        action: 'describeManagedPrefixLists',
        parameters: { Filters: [{ Name: 'prefix-list-name', Values: [CLOUDFRONT_PREFIX_LIST_NAME] }] },
        outputPaths: [PREFIX_LIST_ID_PATH],
        physicalResourceId: PhysicalResourceId.of('cloudfront-origin-facing'),
      },
      permissions: allow(['ec2:DescribeManagedPrefixLists'], '*'),
      logDays: this.#logDays,
    });
    return look.getResponseField(PREFIX_LIST_ID_PATH);
  }
}

/** The isolated subnets, or else the private ones. */
const balancerSubnetsOf = ({ isolatedSubnets, privateSubnets }: IVpc): ISubnet[] =>
  isolatedSubnets.length > 0 ? isolatedSubnets : privateSubnets;

/** @throws SettingError when the tasks or the load balancer have no subnets in a given network */
function checkVpc(vpc: IVpc, { withBalancerSubnets, zones }: StreamNetworkProps): void {
  if (zones) throw new SettingError('zones is for a network of its own: the given vpc has its zones');
  if (vpc.publicSubnets.length === 0)
    throw new SettingError('vpc must have public subnets: stream tasks reach the internet without a NAT gateway');
  if (!withBalancerSubnets && vpc instanceof Vpc && !vpc.dnsHostnamesEnabled)
    throw new SettingError('vpc must have DNS host names: CloudFront reaches a task of hobby by its public name');
  const balancerZones = new Set(balancerSubnetsOf(vpc).map(({ availabilityZone }) => availabilityZone));
  if (withBalancerSubnets && balancerZones.size < 2)
    throw new SettingError('vpc must have private or isolated subnets in two zones for the load balancer');
}

/**
 * Places subnets in zones. Logical ids and address blocks follow from the zone, not from its position in the list: when
 * `zones` changes, a subnet that remains is not replaced, and a new one conflicts with none that is deleted later.
 */
function assignZones(
  subnets: readonly ISubnet[],
  zones: readonly string[] | undefined,
  cidrOf: (zone: number) => string,
) {
  for (const [index, subnet] of subnets.entries()) {
    const zone = zones?.toSorted()[index];
    if (!zone) continue;
    const group = `NetworkVpc${subnet.node.id.replace(/\d+$/, '')}`;
    for (const child of subnet.node.findAll()) {
      if (CfnElement.isCfnElement(child))
        child.overrideLogicalId(`${group}${child.node.id}${zone.replaceAll('-', '')}`);
    }
    const resource = subnet.node.defaultChild as CfnSubnet;
    resource.addPropertyDeletionOverride('AvailabilityZone');
    resource.addPropertyOverride('AvailabilityZoneId', zone);
    resource.addPropertyOverride('CidrBlock', cidrOf(Number(zone.at(-1))));
  }
}
