import { Duration } from 'aws-cdk-lib';
import { OriginProtocolPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { VpcOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Port, SecurityGroup, SubnetType } from 'aws-cdk-lib/aws-ec2';
import { AvailabilityZoneRebalancing, FargateService } from 'aws-cdk-lib/aws-ecs';
import {
  ApplicationLoadBalancer,
  ApplicationProtocol,
  type ApplicationTargetGroup,
  TargetGroupLoadBalancingAlgorithmType,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { Construct, type IDependable } from 'constructs';
import type { Deployment } from '../../config/index.ts';
import { suppressNag } from '../shared/index.ts';
import type { StreamNetwork } from './stream-network.ts';
import { scaleByStreams } from './stream-scaling.ts';
import { CONTAINER_NAME, type StreamTask, TASK_PORT } from './stream-task.ts';

export interface BalancedStreamHostProps {
  readonly deployment: Deployment;
  readonly network: StreamNetwork;
  readonly task: StreamTask;
  /** Tasks that start before it would find no tools, and be counted as failed. */
  readonly toolsInstalled: IDependable;
}

/** Client, edge, load balancer: two of them are in front of a task. */
export const BALANCED_TRUSTED_PROXIES = 2;

/** The load balancer's most: a player that pauses for an hour finds its connection again. */
const CONNECTION_IDLE_TIMEOUT = Duration.seconds(4000);
/** How long a task that is to go may finish its streams. */
const DEREGISTRATION_DELAY = Duration.seconds(900);

/** Stream tasks behind an internal load balancer that CloudFront alone reaches, as many as streaming needs. */
export class BalancedStreamHost extends Construct {
  readonly balancer: ApplicationLoadBalancer;
  readonly targets: ApplicationTargetGroup;
  readonly service: FargateService;
  readonly origin: VpcOrigin;

  constructor(scope: Construct, id: string, props: BalancedStreamHostProps) {
    super(scope, id);
    const { deployment, network } = props;
    const { vpc } = network;
    const balancerGroup = network.createGroupForCloudFront(this, 'BalancerGroup', 80);
    // Under a name of its own: a change of profile takes the other one away after the tasks that it holds.
    const taskGroup = new SecurityGroup(this, 'BalancedTaskGroup', {
      vpc,
      description: 'The load balancer alone gets in',
    });
    taskGroup.connections.allowFrom(balancerGroup, Port.tcp(TASK_PORT), 'Load balancer');

    this.balancer = new ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: false,
      vpcSubnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      securityGroup: balancerGroup,
      idleTimeout: CONNECTION_IDLE_TIMEOUT,
      dropInvalidHeaderFields: true,
    });
    // CloudFront reaches into none that has no internet gateway.
    this.balancer.node.addDependency(vpc);
    suppressNag(this.balancer, { ELB2: 'Every stream is logged by the service itself' });
    this.service = this.#createService(props, taskGroup);
    this.targets = this.balancer.addListener('Listener', { port: 80, open: false }).addTargets('Tasks', {
      port: TASK_PORT,
      protocol: ApplicationProtocol.HTTP,
      targets: [this.service.loadBalancerTarget({ containerName: CONTAINER_NAME, containerPort: TASK_PORT })],
      deregistrationDelay: DEREGISTRATION_DELAY,
      healthCheck: {
        path: '/healthz',
        interval: Duration.seconds(10),
        healthyThresholdCount: 2,
        unhealthyThresholdCount: 6,
      },
      // A stream is one request for its whole length: taking turns would heap them up.
      loadBalancingAlgorithmType: TargetGroupLoadBalancingAlgorithmType.LEAST_OUTSTANDING_REQUESTS,
    });
    scaleByStreams(this.service, deployment);
    this.origin = VpcOrigin.withApplicationLoadBalancer(this.balancer, {
      originId: 'stream',
      protocolPolicy: OriginProtocolPolicy.HTTP_ONLY,
      httpPort: 80,
      readTimeout: Duration.seconds(60),
      keepaliveTimeout: Duration.seconds(60),
      connectionAttempts: 1,
      connectionTimeout: Duration.seconds(5),
    });
  }

  #createService({ task, network, toolsInstalled }: BalancedStreamHostProps, group: SecurityGroup): FargateService {
    const service = new FargateService(this, 'Service', {
      cluster: task.cluster,
      taskDefinition: task.definition,
      // No count: each deployment would put back what scaling has found.
      vpcSubnets: { subnetType: SubnetType.PUBLIC },
      assignPublicIp: true,
      securityGroups: [group],
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      healthCheckGracePeriod: Duration.seconds(60),
      circuitBreaker: { rollback: true },
      // Would end tasks that stream to even out zones.
      availabilityZoneRebalancing: AvailabilityZoneRebalancing.DISABLED,
    });
    // Tasks fetch their image from outside, and a gateway stays attached while an address is in use.
    service.node.addDependency(toolsInstalled, network.vpc);
    return service;
  }
}
