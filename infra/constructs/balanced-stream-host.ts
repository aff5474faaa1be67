import { Duration } from 'aws-cdk-lib';
import { OriginProtocolPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { VpcOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import type { FargateService, ScalableTaskCount } from 'aws-cdk-lib/aws-ecs';
import {
  ApplicationLoadBalancer,
  ApplicationProtocol,
  type ApplicationTargetGroup,
  TargetGroupLoadBalancingAlgorithmType,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { Construct, type IDependable } from 'constructs';
import { type Deployment, TASK_TARGETS } from '../profiles.ts';
import { regionalName, suppressNag } from './conventions.ts';
import { ServiceLinkedRole, type ServiceLinkedRoleProps } from './sdk-call.ts';
import { serviceMetric } from './service-function.ts';
import type { StreamNetwork } from './stream-network.ts';
import { CONTAINER_NAME, type StreamTask, TASK_PORT } from './stream-task.ts';

interface BalancedStreamHostProps {
  readonly deployment: Deployment;
  readonly network: StreamNetwork;
  readonly task: StreamTask;
  /** Tasks that start before this have no tools yet, and answer that they are in maintenance. */
  readonly toolsInstalled: IDependable;
}

/** The maximum of a load balancer: a player that pauses for an hour keeps its connection. */
const CONNECTION_IDLE_TIMEOUT = Duration.seconds(4000);
/** Time that a stopping task has to finish its streams. */
const DEREGISTRATION_DELAY = Duration.seconds(900);

/**
 * The stream host of `team` and `public`: an auto-scaled Fargate service behind an internal load balancer, which
 * CloudFront reaches as a VPC origin, and the security groups of both.
 */
export class BalancedStreamHost extends Construct {
  readonly targets: ApplicationTargetGroup;
  readonly origin: VpcOrigin;
  /** Complete when tasks serve. */
  readonly ready: readonly IDependable[];

  constructor(scope: Construct, id: string, props: BalancedStreamHostProps) {
    super(scope, id);
    const { deployment, network, task } = props;
    const { vpc } = network;
    const balancerGroup = network.createGroupForCloudFront(this, 'BalancerGroup', 80);
    // Its id differs from the on-demand host's group: a change of profile deletes that one only after its task has stopped.
    const taskGroup = new SecurityGroup(this, 'BalancedTaskGroup', {
      vpc,
      description: 'The load balancer alone gets in',
    });
    taskGroup.connections.allowFrom(balancerGroup, Port.tcp(TASK_PORT), 'Load balancer');

    const balancer = new ApplicationLoadBalancer(this, 'Balancer', {
      vpc,
      internetFacing: false,
      vpcSubnets: network.balancerSubnets,
      securityGroup: balancerGroup,
      idleTimeout: CONNECTION_IDLE_TIMEOUT,
      dropInvalidHeaderFields: true,
    });
    // A VPC origin requires an internet gateway in the VPC.
    balancer.node.addDependency(vpc);
    suppressNag(balancer, { ELB2: 'The service logs every stream' });
    const service = task.createService(this, 'Service', {
      securityGroups: [taskGroup],
      healthCheckGracePeriod: Duration.seconds(60),
    });
    service.node.addDependency(props.toolsInstalled);
    this.targets = balancer.addListener('Listener', { port: 80, open: false }).addTargets('Tasks', {
      port: TASK_PORT,
      protocol: ApplicationProtocol.HTTP,
      targets: [service.loadBalancerTarget({ containerName: CONTAINER_NAME, containerPort: TASK_PORT })],
      deregistrationDelay: DEREGISTRATION_DELAY,
      healthCheck: {
        path: '/healthz',
        interval: Duration.seconds(10),
        healthyThresholdCount: 2,
        unhealthyThresholdCount: 6,
      },
      // Streams are long requests: round robin would distribute them unevenly.
      loadBalancingAlgorithmType: TargetGroupLoadBalancingAlgorithmType.LEAST_OUTSTANDING_REQUESTS,
    });
    this.ready = [service];
    const scaling = scaleByStreams(service, deployment);
    this.origin = VpcOrigin.withApplicationLoadBalancer(balancer, {
      originId: 'stream',
      vpcOriginName: regionalName(this, 'stream'),
      protocolPolicy: OriginProtocolPolicy.HTTP_ONLY,
      httpPort: 80,
      readTimeout: Duration.seconds(60),
      keepaliveTimeout: Duration.seconds(60),
      connectionAttempts: 1,
      connectionTimeout: Duration.seconds(5),
    });
    const role = (roleId: string, service: ServiceLinkedRoleProps['service']) =>
      new ServiceLinkedRole(this, roleId, { service, logDays: deployment.settings.logDays });
    balancer.node.addDependency(role('BalancerRole', 'elasticloadbalancing.amazonaws.com'));
    scaling.node.addDependency(role('ScalingRole', 'ecs.application-autoscaling.amazonaws.com'));
    balancer.node.addDependency(role('VpcOriginRole', 'vpcorigin.cloudfront.amazonaws.com'));
  }
}

const TARGET_CPU_PERCENT = 60;

/** Scales out quickly and in slowly: a stopping task has streams to finish. */
const COOLDOWNS = { scaleOutCooldown: Duration.minutes(1), scaleInCooldown: Duration.minutes(15) };

/** Adds target-tracking policies for CPU utilization (encoding), concurrent streams and network traffic. */
function scaleByStreams(service: FargateService, { profile, settings }: Deployment): ScalableTaskCount {
  const cores = profile.taskCpu / 1024;
  const scaling = service.autoScaleTaskCount({ minCapacity: profile.minTasks, maxCapacity: profile.maxTasks });
  scaling.scaleOnCpuUtilization('Cpu', { targetUtilizationPercent: TARGET_CPU_PERCENT, ...COOLDOWNS });
  scaling.scaleToTrackCustomMetric('Streams', {
    metric: serviceMetric(settings.stage, 'Streams', { statistic: 'Average', period: Duration.minutes(1) }),
    targetValue: TASK_TARGETS.streamsPerCore * cores,
    ...COOLDOWNS,
  });
  scaling.scaleToTrackCustomMetric('Network', {
    metric: serviceMetric(settings.stage, 'BytesSent', { statistic: 'Average', period: Duration.minutes(1) }),
    targetValue: TASK_TARGETS.bytesPerMinutePerCore * cores,
    ...COOLDOWNS,
  });
  return scaling;
}
