import { join } from 'node:path';
import { ContainerImageBuild } from '@cdklabs/deploy-time-build';
import { type CfnResource, Duration, Stack } from 'aws-cdk-lib';
import { Project } from 'aws-cdk-lib/aws-codebuild';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { SubnetType } from 'aws-cdk-lib/aws-ec2';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import {
  AvailabilityZoneRebalancing,
  AwsLogDriverMode,
  Cluster,
  ContainerImage,
  ContainerInsights,
  CpuArchitecture,
  FargateService,
  type FargateServiceProps,
  FargateTaskDefinition,
  LinuxParameters,
  LogDrivers,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import { type CfnRole, type IRole, type Policy, PolicyDocument, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { variablesFor } from '../../core/config/index.ts';
import type { Deployment } from '../profiles.ts';
import type { DeploymentSettings } from '../settings.ts';
import { spendingPlan, unitPrices } from '../spending-plan.ts';
import {
  allow,
  allowItems,
  allowLogging,
  createLogGroup,
  InlineRole,
  suppressNag,
  suppressWildcards,
} from './conventions.ts';
import { ServiceLinkedRole } from './sdk-call.ts';
import { arnInStack } from './service-function.ts';
import type { StreamNetwork } from './stream-network.ts';
import type { Tools } from './tools.ts';

interface StreamTaskProps {
  readonly deployment: Deployment;
  readonly table: ITable;
  readonly tools: Tools;
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
  readonly #network: StreamNetwork;

  constructor(scope: Construct, id: string, props: StreamTaskProps) {
    super(scope, id);
    const { deployment, network } = props;
    const { settings, profile, bundleDir } = deployment;
    this.#network = network;
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
      executionRole: new InlineRole(this, 'ExecutionRole', 'ecs-tasks.amazonaws.com'),
      volumes: [{ name: 'scratch' }],
    });
    const container = this.definition.addContainer(CONTAINER_NAME, {
      image: this.#image(settings, join(bundleDir, 'stream-service')),
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
    suppressNag(this.definition, {
      ECS2: 'The environment contains no secrets: they are named by ARN and read at start',
    });
  }

  #image({ streamImage, architecture, logDays }: DeploymentSettings, directory: string): ContainerImage {
    const platform = architecture === 'arm64' ? Platform.LINUX_ARM64 : Platform.LINUX_AMD64;
    if (streamImage === 'docker') return ContainerImage.fromAsset(directory, { platform });
    if (streamImage !== 'codebuild') return ContainerImage.fromRegistry(streamImage);
    const image = new ContainerImageBuild(this, 'Image', { directory, platform });
    const reason = 'What builds the image exists for each deployment alone';
    // The project and the function that starts it stand at the top of the stack.
    for (const child of Stack.of(this).node.children) {
      if (!(child instanceof Project || child instanceof LambdaFunction)) continue;
      if (!/^(ContainerImageBuild|DeployTimeBuild)/.test(child.node.id)) continue;
      useOwnLog(child, createLogGroup(child, 'Log', logDays));
      suppressNag(child, {
        'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonElasticContainerRegistryPublicReadOnly]': reason,
        L1: 'The library names the runtime',
        CB3: 'Docker needs the privileged mode',
        CB4: 'Its only artifact is the image, which the repository encrypts',
      });
      suppressWildcards(child, reason);
    }
    return image.toEcsDockerImageCode();
  }

  /** A service that runs the task, in public subnets: it reaches the internet without a NAT gateway. */
  createService(scope: Construct, id: string, props: Partial<FargateServiceProps>): FargateService {
    const service = new FargateService(scope, id, {
      cluster: this.cluster,
      taskDefinition: this.definition,
      // No desired count: each deployment would reset the one that was chosen since. A new service begins with one task.
      vpcSubnets: { subnetType: SubnetType.PUBLIC },
      assignPublicIp: true,
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      circuitBreaker: { rollback: true },
      // Rebalancing would stop tasks that are streaming.
      availabilityZoneRebalancing: AvailabilityZoneRebalancing.DISABLED,
      ...props,
    });
    // Tasks pull their image over the internet, and an internet gateway cannot be detached while public addresses are in use.
    service.node.addDependency(this.#network.vpc);
    return service;
  }

  #environment({ deployment, table, tools }: StreamTaskProps): Record<string, string> {
    const { settings, profile } = deployment;
    const { cachesStreams, dailyCap } = spendingPlan(settings, profile);
    const { edgeByte } = unitPrices(settings, profile);
    const isOnDemand = profile.streamHost === 'on-demand';
    return {
      AWS_REGION: Stack.of(this).region,
      PORT: String(TASK_PORT),
      STAGE: settings.stage,
      TABLE_NAME: table.tableName,
      TOOLS_BUCKET: tools.bucket.bucketName,
      // Without a stream for this long the task ends. 0: never.
      IDLE_MINUTES: String(isOnDemand ? settings.idleMinutes : 0),
      // The number of proxies in front: CloudFront, and the load balancer.
      TRUSTED_PROXIES: isOnDemand ? '1' : '2',
      // Bytes from the cache of the edge are sent without the service, which cannot count them.
      ...(!cachesStreams && edgeByte > 0 && { STREAM_BYTES_A_DAY: String(Math.floor(dailyCap / edgeByte)) }),
      ...variablesFor('stream-task', settings),
    };
  }

  #createTaskRole({ deployment, table, tools }: StreamTaskProps): Role {
    const isBalanced = deployment.profile.streamHost === 'balanced';
    const statements = [
      allowItems(table, ['resource#*', 'maintenance', 'cost-guard'], 'GetItem'),
      // Expired links are resolved again, and each use extends the resource's expiry.
      allowItems(table, ['resource#*'], 'PutItem'),
      // The records of spending count the bytes of a day's streams.
      allowItems(table, ['resource#*', 'spending#*'], 'UpdateItem'),
      ...allow(['s3:GetObject'], tools.bucket.arnForObjects('*')),
      // With ListBucket, S3 answers 404 instead of 403 for missing objects.
      ...allow(['s3:ListBucket'], tools.bucket.bucketArn),
      ...allow(
        ['secretsmanager:GetSecretValue'],
        deployment.settings.outgoingProxiesSecret,
        deployment.settings.cookiesSecret,
      ),
      ...allow(
        ['ecs:UpdateTaskProtection', 'ecs:GetTaskProtection'],
        isBalanced ? arnInStack(this, 'ecs', `task/${this.cluster.clusterName}/*`) : undefined,
      ),
    ];
    return new Role(this, 'TaskRole', {
      assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com'),
      inlinePolicies: { permissions: new PolicyDocument({ statements }) },
    });
  }
}

/**
 * Has what a library builds write to one log group of the stack, in place of one that outlives it, and gives its role all of its rights when
 * that is created: the build begins as soon as there is a project.
 */
function useOwnLog(builder: Project | LambdaFunction, logGroup: LogGroup): void {
  const role = builder.role as Role;
  const { document } = role.node.findChild('DefaultPolicy') as Policy;
  role.node.tryRemoveChild('DefaultPolicy');
  const cfnRole = role.node.defaultChild as CfnRole;
  // What names the project, as its reports and its former log do, would make a circle.
  const statements = document
    .toJSON()
    .Statement.filter(({ Action }: { Action: unknown }) => !/logs:|Report/.test(String(Action)));
  const policyDocument = PolicyDocument.fromJson({ Statement: statements });
  policyDocument.addStatements(...allowLogging(logGroup));
  cfnRole.policies = [{ policyName: 'permissions', policyDocument }];
  const resource = builder.node.defaultChild as CfnResource;
  if (builder instanceof Project) {
    resource.addPropertyOverride('LogsConfig.CloudWatchLogs', { Status: 'ENABLED', GroupName: logGroup.logGroupName });
    return;
  }
  builder.node.tryRemoveChild('LogGroup');
  cfnRole.managedPolicyArns = [];
  resource.addPropertyOverride('LoggingConfig.LogGroup', logGroup.logGroupName);
}
