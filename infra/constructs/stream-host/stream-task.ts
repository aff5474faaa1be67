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
import { variablesFor } from '../../../core/config/index.ts';
import type { Deployment } from '../../config/index.ts';
import {
  arnInStack,
  createLogGroup,
  type StateTable,
  secretReadStatements,
  suppressNag,
  suppressWildcards,
} from '../shared/index.ts';
import type { Tools } from '../tools/index.ts';
import type { StreamNetwork } from './stream-network.ts';

export interface StreamTaskProps {
  readonly deployment: Deployment;
  readonly network: StreamNetwork;
  readonly table: StateTable;
  readonly tools: Tools;
  /** Proxies whose X-Forwarded-For is believed: those between a client and the task. */
  readonly trustedProxies: number;
  /** Minutes without a stream after which the task ends itself; 0: never. */
  readonly idleMinutes: number;
}

export const CONTAINER_NAME = 'stream';
export const TASK_PORT = 8080;
/** What Fargate allows between SIGTERM and the end. */
const STOP_TIMEOUT = Duration.seconds(120);

/** What one stream task is, wherever it runs: the image, its sizes, what it is told and what it may do. */
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
    suppressNag(this.cluster, {
      ECS4: 'Tasks write the metrics that matter themselves; Insights costs more than they do',
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
      // The task's own: without it the container sees the memory of the machine that it shares.
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
        // Patient: a task that encodes with all it has starts the check slowly, and ends its streams when it is replaced.
        timeout: Duration.seconds(10),
        retries: 6,
        startPeriod: Duration.seconds(30),
      },
      logging: LogDrivers.awsLogs({
        logGroup: createLogGroup(this, 'Log', settings.logDays),
        streamPrefix: CONTAINER_NAME,
        // A stream does not wait for its log.
        mode: AwsLogDriverMode.NON_BLOCKING,
      }),
    });
    container.addMountPoints({ sourceVolume: 'scratch', containerPath: '/scratch', readOnly: false });
    suppressWildcards(this.definition, [
      { finding: /^Resource::\*$/, reason: 'A token of the image registry is not for one repository' },
    ]);
    suppressNag(this.definition, {
      ECS2: 'Nothing in the environment is secret: secrets are named by ARN and read at start',
    });
  }

  #environment({ deployment, table, tools, trustedProxies, idleMinutes }: StreamTaskProps): Record<string, string> {
    const { settings } = deployment;
    return {
      AWS_REGION: Stack.of(this).region,
      PORT: String(TASK_PORT),
      STAGE: settings.stage,
      TABLE_NAME: table.tableName,
      TOOLS_BUCKET: tools.bucket.bucketName,
      IDLE_MINUTES: String(idleMinutes),
      TRUSTED_PROXIES: String(trustedProxies),
      ...variablesFor('stream-task', settings),
    };
  }

  #createTaskRole({ deployment, table, tools, idleMinutes }: StreamTaskProps): Role {
    const isOfService = idleMinutes === 0;
    const ownTasks = arnInStack(this, 'ecs', `task/${this.cluster.clusterName}/*`);
    const statements = [
      table.allowItems(['resource#*', 'maintenance'], 'GetItem'),
      // A link that has expired is resolved again; a use keeps its resource.
      table.allowItems(['resource#*'], 'PutItem', 'UpdateItem'),
      new PolicyStatement({ actions: ['s3:GetObject'], resources: [tools.bucket.arnForObjects('*')] }),
      // So that what is not there is 404 and not 403.
      new PolicyStatement({ actions: ['s3:ListBucket'], resources: [tools.bucket.bucketArn] }),
      ...(isOfService
        ? [
            new PolicyStatement({
              actions: ['ecs:UpdateTaskProtection', 'ecs:GetTaskProtection'],
              resources: [ownTasks],
            }),
          ]
        : []),
      ...secretReadStatements(deployment.settings),
    ];
    const role = new Role(this, 'TaskRole', {
      assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com'),
      inlinePolicies: { permissions: new PolicyDocument({ statements }) },
    });
    suppressWildcards(role, [
      { finding: /^Resource::<ToolsBucket\w+\.Arn>\/\*$/, reason: 'Releases are objects of one bucket, by version' },
      { finding: /^Resource::.*:task\/<\w+>\/\*$/, reason: 'A task protects itself; its id is known when it runs' },
    ]);
    return role;
  }
}
