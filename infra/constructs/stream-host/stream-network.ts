import { Stack, Token } from 'aws-cdk-lib';
import {
  type CfnSubnet,
  GatewayVpcEndpointAwsService,
  type ISubnet,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { createLogGroup, createProviderRole, suppressNag, suppressWildcards } from '../shared/index.ts';

export interface StreamNetworkProps {
  /** Whether there are subnets for a load balancer, without a way out. */
  readonly withBalancerSubnets: boolean;
  /** Zone ids, instead of the region's usual ones. */
  readonly zones?: readonly string[];
  readonly logDays: number;
}

/** Zones that VPC origins work in, where the first two of a region may be others. By id: names differ by account. */
const ZONES_WITH_VPC_ORIGINS: Readonly<Record<string, readonly string[]>> = {
  'us-east-1': ['use1-az1', 'use1-az2'],
  'us-west-1': ['usw1-az1', 'usw1-az3'],
  'ca-central-1': ['cac1-az1', 'cac1-az2'],
  'ap-northeast-1': ['apne1-az1', 'apne1-az4'],
};

const CLOUDFRONT_PREFIX_LIST_NAME = 'com.amazonaws.global.cloudfront.origin-facing';
const PREFIX_LIST_ID_PATH = 'PrefixLists.0.PrefixListId';

/** Where stream tasks run: public subnets, for all their traffic is with the internet; no NAT gateway to pay for it twice. */
export class StreamNetwork extends Construct {
  readonly vpc: Vpc;
  readonly #logDays: number;

  constructor(scope: Construct, id: string, { withBalancerSubnets, zones, logDays }: StreamNetworkProps) {
    super(scope, id);
    this.#logDays = logDays;
    const balancerSubnets = { name: 'balancer', subnetType: SubnetType.PRIVATE_ISOLATED, cidrMask: 24 };
    this.vpc = new Vpc(this, 'Vpc', {
      maxAzs: 2,
      natGateways: 0,
      // Would take a custom resource; nothing here uses the default group.
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
    suppressNag(this.vpc, {
      VPC7: 'Every stream is logged by the service; flow logs of all media would cost more than it',
    });

    const { region } = Stack.of(this);
    // In every profile: another one must find its subnets where they are.
    const usual = Token.isUnresolved(region) ? undefined : ZONES_WITH_VPC_ORIGINS[region];
    assignZones(this.vpc.publicSubnets, zones ?? usual);
    assignZones(this.vpc.isolatedSubnets, zones ?? usual);
  }

  /** A security group that only CloudFront gets into, on one port: its list of addresses nearly fills a group's rules. */
  createGroupForCloudFront(scope: Construct, id: string, port: number): SecurityGroup {
    const group = new SecurityGroup(scope, id, { vpc: this.vpc, description: 'CloudFront alone gets in' });
    group.addIngressRule(Peer.prefixList(this.#prefixList(scope, `${id}Sources`)), Port.tcp(port), 'CloudFront');
    return group;
  }

  /** Asked for at deployment: at synthesis it would take credentials. */
  #prefixList(scope: Construct, id: string): string {
    const logGroup = createLogGroup(scope, `${id}Log`, this.#logDays);
    const role = createProviderRole(scope, `${id}Role`, logGroup);
    const look = new AwsCustomResource(scope, id, {
      onUpdate: {
        service: 'EC2',
        action: 'describeManagedPrefixLists',
        parameters: { Filters: [{ Name: 'prefix-list-name', Values: [CLOUDFRONT_PREFIX_LIST_NAME] }] },
        outputPaths: [PREFIX_LIST_ID_PATH],
        physicalResourceId: PhysicalResourceId.of('cloudfront-origin-facing'),
      },
      policy: AwsCustomResourcePolicy.fromStatements([
        new PolicyStatement({ actions: ['ec2:DescribeManagedPrefixLists'], resources: ['*'] }),
      ]),
      installLatestAwsSdk: false,
      role,
      logGroup,
    });
    suppressWildcards(look, [{ finding: /^Resource::\*$/, reason: 'Describing prefix lists takes no resource' }]);
    return look.getResponseField(PREFIX_LIST_ID_PATH);
  }
}

function assignZones(subnets: readonly ISubnet[], zones: readonly string[] | undefined): void {
  for (const [index, subnet] of subnets.entries()) {
    const zone = zones?.[index];
    if (!zone) continue;
    const resource = subnet.node.defaultChild as CfnSubnet;
    resource.addPropertyDeletionOverride('AvailabilityZone');
    resource.addPropertyOverride('AvailabilityZoneId', zone);
  }
}
