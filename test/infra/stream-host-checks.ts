import { describe, expect, it } from 'vitest';
import type { ProfileName } from '../../infra/settings.ts';
import type { SynthesizedName } from './deployment-settings.ts';
import { regionalTemplate, template } from './deployments.ts';
import { distribution } from './distribution.ts';
import type { Template } from './permissions.ts';
import { mainTemplate, synthesize } from './synth.ts';
import {
  containerOf,
  dependenciesOf,
  functionNamed,
  onlyResource,
  propertiesOf,
  resourcesOfType,
  valuesOf,
} from './template.ts';

/** Tests of both stream hosts: balanced and on demand. */
export function checkStreamHosts(): void {
  describe('balanced stream host', () => {
    const of = template('team');

    it('accepts connections of CloudFront only, through the load balancer', () => {
      const ingress = propertiesOf(of, 'AWS::EC2::SecurityGroupIngress');
      expect(ingress).toEqual([
        expect.objectContaining({ FromPort: 80, ToPort: 80, SourcePrefixListId: expect.anything() }),
        expect.objectContaining({ FromPort: 8080, ToPort: 8080, SourceSecurityGroupId: expect.anything() }),
      ]);
      for (const properties of propertiesOf(of, 'AWS::EC2::SecurityGroup')) {
        expect(properties.SecurityGroupIngress).toBeUndefined();
      }
      const [origin] = distribution(of).Origins.filter(({ VpcOriginConfig }) => VpcOriginConfig);
      expect(origin).toMatchObject({ Id: 'stream', ConnectionAttempts: 1, VpcOriginConfig: { OriginReadTimeout: 60 } });
    });

    it('drains the streams of a task that stops', () => {
      const { TargetGroupAttributes = [] } = onlyResource(of, 'AWS::ElasticLoadBalancingV2::TargetGroup');
      expect(TargetGroupAttributes).toContainEqual({ Key: 'deregistration_delay.timeout_seconds', Value: '900' });
      const { LoadBalancerAttributes = [] } = onlyResource(of, 'AWS::ElasticLoadBalancingV2::LoadBalancer');
      expect(LoadBalancerAttributes).toContainEqual({ Key: 'idle_timeout.timeout_seconds', Value: '4000' });
      expect(onlyResource(of, 'AWS::ECS::Service')).toMatchObject({
        DeploymentConfiguration: {
          DeploymentCircuitBreaker: { Enable: true, Rollback: true },
          MinimumHealthyPercent: 100,
          MaximumPercent: 200,
        },
        NetworkConfiguration: { AwsvpcConfiguration: { AssignPublicIp: 'ENABLED' } },
      });
      expect(onlyResource(of, 'AWS::ECS::Service').DesiredCount).toBeUndefined();
    });

    it.each<[ProfileName, number, number, number]>([
      ['team', 1, 4, 0.5],
      ['public', 2, 20, 1],
    ])('scales in %s from %i to %i by CPU, streams and bytes', (name, least, most, cores) => {
      const each = template(name);
      expect(onlyResource(each, 'AWS::ApplicationAutoScaling::ScalableTarget')).toMatchObject({
        MinCapacity: least,
        MaxCapacity: most,
      });
      const policies = valuesOf(
        each,
        'AWS::ApplicationAutoScaling::ScalingPolicy',
        'TargetTrackingScalingPolicyConfiguration',
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

    it('does not tag its VPC origin, whose updates fail', () =>
      expect(onlyResource(of, 'AWS::CloudFront::VpcOrigin').Tags).toBeUndefined());

    it('reuses no security group name of the on-demand host, whose tasks run while the profile changes', () => {
      const groups = (each: Template) => resourcesOfType(each, 'AWS::EC2::SecurityGroup').map(({ id }) => id);
      expect(groups(of).filter((id) => groups(template('hobby')).includes(id))).toEqual([]);
    });

    it('keeps the subnets of another profile', async () => {
      const ofTasks = (each: Template) =>
        resourcesOfType(each, 'AWS::EC2::Subnet').filter(({ id }) => id.startsWith('NetworkVpctask'));
      const { templates } = await synthesize('blue hobby in us-east-1');
      const hobby = templates['reelay-blue'] ?? of;
      const places = (each: Template) =>
        ofTasks(each).map(({ id, properties }) => [id, properties.CidrBlock, properties.AvailabilityZoneId]);
      expect(places(regionalTemplate('team'))).toEqual(places(hobby));
    });

    it('creates the service-linked roles of the services that it uses', () => {
      const roles = resourcesOfType(of, 'Custom::AWS').flatMap(
        ({ properties }) =>
          /"AWSServiceName":"([^"]+)"/.exec(JSON.stringify(properties.Create).replaceAll('\\', ''))?.[1] ?? [],
      );
      expect(roles.sort()).toEqual([
        'ecs.amazonaws.com',
        'ecs.application-autoscaling.amazonaws.com',
        'elasticloadbalancing.amazonaws.com',
        'vpcorigin.cloudfront.amazonaws.com',
      ]);
      expect(dependenciesOf(of, 'AWS::ECS::Cluster', /./)).toContain('TaskEcsRole');
      expect(dependenciesOf(of, 'AWS::ElasticLoadBalancingV2::LoadBalancer', /./)).toContain('StreamsBalancerRole');
      expect(dependenciesOf(of, 'AWS::CloudFront::VpcOrigin', /./)).toContain('StreamsVpcOriginRole');
      const target = dependenciesOf(of, 'AWS::ApplicationAutoScaling::ScalableTarget', /./);
      expect(target).toContain('StreamsScalingRole');
      expect(dependenciesOf(template('hobby'), 'AWS::ECS::Cluster', /./)).toContain('TaskEcsRole');
    });

    it('keeps the subnets of unchanged zones, and assigns unused CIDR blocks to new ones', async () => {
      const blocks = async (name: SynthesizedName) => {
        const { templates } = await synthesize(name);
        return resourcesOfType(templates['reelay-blue'] ?? of, 'AWS::EC2::Subnet').map(({ id, properties }) => [
          id,
          String(properties.CidrBlock),
        ]);
      };
      const unset = await blocks('blue team without zones');
      const first = await blocks('blue team in zones 1, 2');
      const second = await blocks('blue team in zones 2, 3');
      const reversed = await blocks('blue team in zones 2, 1');
      expect(reversed).toEqual(first);
      const kept = first.filter(([id]) => second.some(([other]) => other === id));
      expect(kept).toHaveLength(2);
      // Subnets of both deployments exist during an update, so that a block belongs to one subnet.
      const all = [...unset, ...first, ...second];
      const byBlock = Map.groupBy(all, ([, block]) => block);
      for (const [block, subnets] of byBlock)
        expect([block, new Set(subnets.map(([id]) => id)).size]).toEqual([block, 1]);
      expect(byBlock.size).toBe(10);
    });

    it('uses only availability zones that support VPC origins', async () => {
      const zones = resourcesOfType(regionalTemplate('team'), 'AWS::EC2::Subnet').map(({ properties }) => [
        properties.AvailabilityZone,
        properties.AvailabilityZoneId,
      ]);
      expect(zones).toEqual([1, 2, 1, 2].map((number) => [undefined, `use1-az${number}`]));
      const canada = await mainTemplate('defaults in ca-central-1');
      expect(valuesOf(canada, 'AWS::EC2::Subnet', 'AvailabilityZoneId')).toEqual(
        [1, 2, 1, 2].map((number) => `cac1-az${number}`),
      );
    });
  });

  describe('on-demand stream host', () => {
    const of = template('hobby');

    it('leads streams to the wake function, which the edge function replaces by the task that is registered', () => {
      const { OriginGroups, Origins } = distribution(of);
      expect(OriginGroups).toBeUndefined();
      expect(Origins.map(({ Id }) => Id)).toContain('wake');
      expect(onlyResource(of, 'AWS::Lambda::Url')).toMatchObject({ AuthType: 'AWS_IAM' });
    });

    it('is a service whose count no deployment resets, and whose task the function can stop', () => {
      const service = onlyResource(of, 'AWS::ECS::Service');
      expect(service).toMatchObject({
        ServiceName: 'reelay-main-on-demand',
        DeploymentConfiguration: { DeploymentCircuitBreaker: { Enable: true, Rollback: true } },
        NetworkConfiguration: { AwsvpcConfiguration: { AssignPublicIp: 'ENABLED' } },
      });
      expect(service.DesiredCount).toBeUndefined();
      for (const name of ['wake', 'cost-guard'])
        expect(functionNamed(of, name).variables).toMatchObject({
          SERVICE: service.ServiceName,
          CLUSTER: service.Cluster,
          KEY_VALUE_STORE_ARN: { 'Fn::GetAtt': [resourcesOfType(of, 'AWS::CloudFront::KeyValueStore')[0]?.id, 'Arn'] },
        });
      const groups = Object(service.NetworkConfiguration).AwsvpcConfiguration.SecurityGroups;
      expect([functionNamed(of, 'wake').variables.SECURITY_GROUP]).toEqual(groups);
      expect(containerOf(of).variables.HOST_FUNCTION).toEqual({ Ref: expect.stringMatching(/^StreamsWake/) });
    });

    it('admits only CloudFront to a task', () =>
      expect(onlyResource(of, 'AWS::EC2::SecurityGroupIngress')).toMatchObject({
        FromPort: 8080,
        ToPort: 8080,
        SourcePrefixListId: expect.anything(),
      }));

    it('is started ahead of streams by the resolver', () => {
      const { WAKE_FUNCTION } = functionNamed(of, 'get-resource').variables;
      expect(WAKE_FUNCTION).toEqual({ Ref: expect.stringMatching(/^StreamsWake/) });
    });
  });
}
