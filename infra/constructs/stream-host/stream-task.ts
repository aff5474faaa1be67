import { join } from 'node:path';
import { Duration, Stack } from 'aws-cdk-lib';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import {
  AwsLogDriverMode,
  Cluster,
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargateTaskDefinition,
  LinuxParameters,
  LogDrivers,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { type IRole, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { arnInStack, createLogGroup, ServiceLinkedRole, suppressNag, suppressWildcards } from '../shared/index.ts';
import type { StreamNetwork } from './stream-network.ts';
import {
  STREAM_WILDCARDS,
  type StreamDependencies,
  type StreamVariables,
  streamStatements,
  streamVariables,
} from './stream-permissions.ts';

export interface StreamTaskProps extends StreamDependencies, StreamVariables {
  readonly network: StreamNetwork;
}

export const CONTAINER_NAME = 'stream';
export const TASK_PORT = 8080;
/** Time between SIGTERM and SIGKILL; Fargate's maximum. */
const STOP_TIMEOUT = Duration.seconds(120);

/** The stream task, the same for both hosts: cluster, task definition with image and sizes, task role, log group. */
export class StreamTask extends Construct {
  readonly cluster: Cluster;
  readonly definition: FargateTaskDefinition;
  readonly taskRole: IRole;

  constructor(scope: Construct, id: string, props: StreamTaskProps) {
    super(scope, id);
    const { deployment, network } = props;
    const { settings, profile, bundleDir } = deployment;
    this.cluster = new Cluster(this, 'Cluster', {
      vpc: network.vpc,
      containerInsightsV2: ContainerInsights.DISABLED,
    });
    this.cluster.node.addDependency(
      new ServiceLinkedRole(this, 'EcsRole', { service: 'ecs.amazonaws.com', logDays: settings.logDays }),
    );
    suppressNag(this.cluster, {
      ECS4: 'Tasks write the metrics that scaling and alarms use; Container Insights costs more',
    });

    const isArm = settings.architecture === 'arm64';
    this.taskRole = this.#createTaskRole(props);
    this.definition = new FargateTaskDefinition(this, 'Definition', {
      cpu: profile.taskCpu,
      memoryLimitMiB: profile.taskMemory,
      runtimePlatform: {
        cpuArchitecture: isArm ? CpuArchitecture.ARM64 : CpuArchitecture.X86_64,
        operatingSystemFamily: OperatingSystemFamily.LINUX,
      },
      taskRole: this.taskRole,
      volumes: [{ name: 'scratch' }],
    });
    const container = this.definition.addContainer(CONTAINER_NAME, {
      image: ContainerImage.fromAsset(join(bundleDir, 'stream-service'), {
        platform: isArm ? Platform.LINUX_ARM64 : Platform.LINUX_AMD64,
      }),
      // Without a limit the container sees the memory of the host, and the service sizes itself by it.
      memoryLimitMiB: profile.taskMemory,
      environment: this.#environment(props),
      portMappings: [{ containerPort: TASK_PORT }],
      user: '1000:1000',
      readonlyRootFilesystem: true,
      linuxParameters: new LinuxParameters(this, 'Linux', { initProcessEnabled: true }),
      stopTimeout: STOP_TIMEOUT,
      healthCheck: {
        command: ['CMD', 'node', '/app/health.mjs'],
        interval: Duration.seconds(10),
        // Generous: under full encoding load the check starts slowly, and replacing the task would end its streams.
        timeout: Duration.seconds(10),
        retries: 6,
        startPeriod: Duration.seconds(30),
      },
      logging: LogDrivers.awsLogs({
        logGroup: createLogGroup(this, 'Log', settings.logDays),
        streamPrefix: CONTAINER_NAME,
        // Streams must not block on log delivery.
        mode: AwsLogDriverMode.NON_BLOCKING,
      }),
    });
    container.addMountPoints({ sourceVolume: 'scratch', containerPath: '/scratch', readOnly: false });
    suppressWildcards(this.definition, [
      { finding: /^Resource::\*$/, reason: 'GetAuthorizationToken supports no resource' },
    ]);
    suppressNag(this.definition, {
      ECS2: 'The environment contains no secrets: they are named by ARN and read at start',
    });
  }

  #environment(props: StreamTaskProps): Record<string, string> {
    return { AWS_REGION: Stack.of(this).region, PORT: String(TASK_PORT), ...streamVariables(props, props) };
  }

  #createTaskRole(props: StreamTaskProps): Role {
    const isOfService = props.idleMinutes === 0;
    const protectItself = new PolicyStatement({
      actions: ['ecs:UpdateTaskProtection', 'ecs:GetTaskProtection'],
      resources: [arnInStack(this, 'ecs', `task/${this.cluster.clusterName}/*`)],
    });
    const statements = [...streamStatements(props), ...(isOfService ? [protectItself] : [])];
    const role = new Role(this, 'TaskRole', {
      assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com'),
      inlinePolicies: { permissions: new PolicyDocument({ statements }) },
    });
    suppressWildcards(role, [
      ...STREAM_WILDCARDS,
      {
        finding: /^Resource::.*:task\/<\w+>\/\*$/,
        reason: 'A task protects itself from scale-in; its id is known only at run time',
      },
    ]);
    return role;
  }
}
