import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

interface Specification {
  readonly schema: {
    readonly resource: {
      readonly entities: readonly {
        readonly cloudFormationType: string;
        readonly properties: Readonly<Record<string, { readonly causesReplacement?: 'yes' | 'maybe' }>>;
      }[];
    };
  };
}

const file = join(import.meta.dirname, '../../../node_modules/aws-cdk/db.json.gz');
const { schema } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Specification;

/** The properties of each type whose change replaces a resource, as CloudFormation specifies them; all others change in place. */
export const REPLACING_PROPERTIES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  schema.resource.entities.map(({ cloudFormationType, properties }) => [
    cloudFormationType,
    Object.keys(properties).filter((name) => properties[name]?.causesReplacement),
  ]),
);

/** Types that AWS identifies by these properties: a second resource with the same values is refused. */
export const UNIQUE_PROPERTIES: Readonly<Record<string, readonly string[]>> = {
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
  'AWS::ElasticLoadBalancingV2::Listener': ['LoadBalancerArn', 'Port'],
  'AWS::Lambda::EventInvokeConfig': ['FunctionName', 'Qualifier'],
  'AWS::Lambda::Function': ['FunctionName'],
  'AWS::Lambda::Url': ['TargetFunctionArn', 'Qualifier'],
  'AWS::S3::BucketPolicy': ['Bucket'],
};

/** Types that AWS refuses to delete while a resource of one of these types refers to them. */
export const HELD_BY: Readonly<Record<string, readonly string[]>> = {
  'AWS::CloudFront::CachePolicy': ['AWS::CloudFront::Distribution'],
  'AWS::CloudFront::Function': ['AWS::CloudFront::Distribution'],
  'AWS::CloudFront::KeyValueStore': ['AWS::CloudFront::Function'],
  'AWS::CloudFront::OriginAccessControl': ['AWS::CloudFront::Distribution'],
  'AWS::CloudFront::ResponseHeadersPolicy': ['AWS::CloudFront::Distribution'],
  'AWS::CloudFront::VpcOrigin': ['AWS::CloudFront::Distribution'],
  'AWS::EC2::InternetGateway': ['AWS::EC2::VPCGatewayAttachment'],
  'AWS::EC2::RouteTable': ['AWS::EC2::SubnetRouteTableAssociation'],
  'AWS::EC2::SecurityGroup': ['AWS::ElasticLoadBalancingV2::LoadBalancer', 'AWS::EC2::SecurityGroupIngress'],
  'AWS::EC2::Subnet': ['AWS::ElasticLoadBalancingV2::LoadBalancer'],
  'AWS::EC2::VPC': [
    ...['AWS::EC2::Subnet', 'AWS::EC2::RouteTable', 'AWS::EC2::SecurityGroup', 'AWS::EC2::VPCEndpoint'],
    'AWS::EC2::VPCGatewayAttachment',
  ],
  'AWS::ECS::Cluster': ['AWS::ECS::Service'],
  'AWS::ElasticLoadBalancingV2::LoadBalancer': ['AWS::CloudFront::VpcOrigin'],
  'AWS::ElasticLoadBalancingV2::TargetGroup': ['AWS::ElasticLoadBalancingV2::Listener'],
  'AWS::IAM::Role': ['AWS::IAM::Policy'],
  'AWS::WAFv2::WebACL': ['AWS::CloudFront::Distribution'],
};
