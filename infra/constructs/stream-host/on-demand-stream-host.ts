import { CustomResource, Duration, Fn } from 'aws-cdk-lib';
import { FunctionUrlOriginAccessControl, type KeyValueStore, OriginProtocolPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, OriginGroup } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { SubnetType } from 'aws-cdk-lib/aws-ec2';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnPermission, FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import type { Deployment } from '../../config/index.ts';
import { allowItems, anyDistribution, arnInStack, regionalName, ServiceFunction } from '../shared/index.ts';
import type { StreamNetwork } from './stream-network.ts';
import { CONTAINER_NAME, type StreamTask, TASK_PORT } from './stream-task.ts';

export interface OnDemandStreamHostProps {
  readonly deployment: Deployment;
  readonly network: StreamNetwork;
  readonly task: StreamTask;
  readonly table: ITable;
  /** Holds the address of the running task for the viewer-request function. */
  readonly keyValueStore: KeyValueStore;
}

/** Proxies whose X-Forwarded-For is trusted: CloudFront. */
export const ON_DEMAND_TRUSTED_PROXIES = 1;

/** Interval at which the store is reconciled with the running tasks, which repairs lost events. */
const RECONCILE_INTERVAL = Duration.minutes(10);
const CLOUDFRONT = 'cloudfront.amazonaws.com';
const STOP_TIMEOUT = Duration.minutes(10);
const CLUSTER_TASK_FINDING = /^Resource::.*:task\/<\w+>\/\*$/;

/**
 * The stream host of `hobby`: one Fargate task that is started by the first request with a valid key and ends itself when
 * idle. Creates the functions `wake` (starts the task), `register` (writes its address to the key-value store, on task
 * events and on a schedule) and `stop-tasks` (a custom resource that stops tasks on deletion), and an origin group that
 * falls back to `wake`.
 */
export class OnDemandStreamHost extends Construct {
  readonly wake: ServiceFunction;
  readonly register: ServiceFunction;
  readonly functions: readonly ServiceFunction[];
  readonly origin: OriginGroup;
  /** Complete when CloudFront may call the wake function. */
  readonly ready: readonly IDependable[];

  constructor(scope: Construct, id: string, props: OnDemandStreamHostProps) {
    super(scope, id);
    const { network } = props;
    const taskGroup = network.createGroupForCloudFront(this, 'TaskGroup', TASK_PORT);
    this.wake = this.#createWake(props, taskGroup.securityGroupId);
    // No retries: the stream itself retries, and a late start would run a task without clients.
    this.wake.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    this.register = this.#createRegister(props);
    const stopper = this.#createStopper(props);
    this.functions = [this.wake, this.register, stopper];

    // Order of deletion: wake function, tasks, then the network they use.
    const tasksStopped = new CustomResource(this, 'TasksStopped', {
      serviceToken: stopper.functionArn,
      resourceType: 'Custom::StopTasks',
      serviceTimeout: STOP_TIMEOUT.plus(Duration.minutes(1)),
      properties: { subnets: subnetIdsOf(network) },
    });
    tasksStopped.node.addDependency(stopper, taskGroup, network.vpc, props.task);
    this.wake.node.addDependency(tasksStopped);

    const wake = this.#createWakeOrigin();
    this.ready = wake.ready;
    this.origin = new OriginGroup({
      // The viewer-request function replaces this host name with the task's, and does not select this origin without one.
      primaryOrigin: new HttpOrigin('asleep.invalid', {
        originId: 'stream',
        protocolPolicy: OriginProtocolPolicy.HTTP_ONLY,
        httpPort: TASK_PORT,
        readTimeout: Duration.seconds(60),
        connectionAttempts: 1,
        connectionTimeout: Duration.seconds(2),
      }),
      fallbackOrigin: wake.origin,
      // Not 502: the service answers 502 for upstream failures, which clients must see.
      fallbackStatusCodes: [503, 504],
    });
  }

  /** The wake function by its URL, with permissions of its own: those of CDK name the distribution, and so follow it. */
  #createWakeOrigin(): { readonly origin: HttpOrigin; readonly ready: readonly IDependable[] } {
    const { url, functionArn: functionName } = this.wake.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM });
    const common = { principal: CLOUDFRONT, functionName, sourceArn: anyDistribution(this) };
    const access = new FunctionUrlOriginAccessControl(this, 'WakeAccess', {
      originAccessControlName: regionalName(this, 'wake'),
    });
    const ready = [
      new CfnPermission(this, 'WakeByUrl', { ...common, action: 'lambda:InvokeFunctionUrl' }),
      new CfnPermission(this, 'WakeInvoke', {
        ...common,
        action: 'lambda:InvokeFunction',
        invokedViaFunctionUrl: true,
      }),
    ];
    const origin = new HttpOrigin(Fn.select(2, Fn.split('/', url)), {
      originId: 'wake',
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      originAccessControlId: access.originAccessControlId,
      connectionAttempts: 1,
    });
    return { origin, ready };
  }

  #createWake({ deployment, network, task, table }: OnDemandStreamHostProps, securityGroup: string): ServiceFunction {
    const { cluster, definition } = task;
    const roles = [definition.taskRole.roleArn, definition.obtainExecutionRole().roleArn];
    const anyRevision = arnInStack(this, 'ecs', `task-definition/${definition.family}:*`);
    return new ServiceFunction(this, 'Wake', {
      deployment,
      name: 'wake',
      timeout: Duration.seconds(20),
      environment: {
        TABLE_NAME: table.tableName,
        CORS_ALLOWED_ORIGINS: deployment.settings.corsAllowedOrigins.join(','),
        CLUSTER: cluster.clusterName,
        TASK_DEFINITION: definition.taskDefinitionArn,
        SUBNETS: subnetIdsOf(network),
        SECURITY_GROUP: securityGroup,
        CONTAINER_NAME: CONTAINER_NAME,
      },
      permissions: [
        new PolicyStatement({
          actions: ['ecs:RunTask'],
          resources: [anyRevision],
          conditions: { ArnEquals: { 'ecs:cluster': cluster.clusterArn } },
        }),
        new PolicyStatement({
          actions: ['iam:PassRole'],
          resources: roles,
          conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
        }),
        ...taskReadStatements(this, task),
        allowItems(table, ['resource#*'], 'GetItem'),
        allowItems(table, ['stream-task'], 'GetItem', 'PutItem', 'DeleteItem'),
      ],
      wildcards: [
        {
          finding: /^Resource::\*$/,
          reason: 'ListTasks supports no resource; a condition restricts it to the cluster',
        },
        { finding: /^Resource::.*:task-definition\/\w+:\*$/, reason: 'All revisions of one task definition' },
        { finding: CLUSTER_TASK_FINDING, reason: 'Tasks of one cluster; task ids are known only at run time' },
      ],
    });
  }

  #createRegister({ deployment, task, keyValueStore }: OnDemandStreamHostProps): ServiceFunction {
    const { cluster, definition } = task;
    const register = new ServiceFunction(this, 'Register', {
      deployment,
      name: 'register',
      timeout: Duration.seconds(60),
      environment: {
        CLUSTER: cluster.clusterName,
        KEY_VALUE_STORE_ARN: keyValueStore.keyValueStoreArn,
        TASK_FAMILY: definition.family,
        TASK_DEFINITION: definition.taskDefinitionArn,
        WAKE_FUNCTION: this.wake.functionName,
      },
      permissions: [
        ...taskReadStatements(this, task, 'ecs:StopTask'),
        new PolicyStatement({ actions: ['ec2:DescribeNetworkInterfaces'], resources: ['*'] }),
        // Starts a replacement for a task of an earlier deployment.
        new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [this.wake.functionArn] }),
        new PolicyStatement({
          actions: ['DescribeKeyValueStore', 'PutKey', 'DeleteKey'].map(
            (action) => `cloudfront-keyvaluestore:${action}`,
          ),
          resources: [keyValueStore.keyValueStoreArn],
        }),
      ],
      wildcards: [
        { finding: /^Resource::\*$/, reason: 'ListTasks and DescribeNetworkInterfaces support no resource' },
        { finding: CLUSTER_TASK_FINDING, reason: 'Tasks of one cluster; task ids are known only at run time' },
      ],
    });
    new Rule(this, 'TaskChanges', {
      description: 'A stream task runs or has ended',
      eventPattern: {
        source: ['aws.ecs'],
        detailType: ['ECS Task State Change'],
        detail: {
          clusterArn: [cluster.clusterArn],
          lastStatus: ['RUNNING', 'DEACTIVATING', 'STOPPING', 'DEPROVISIONING', 'STOPPED'],
        },
      },
      targets: [new LambdaFunction(register)],
    });
    new Rule(this, 'Reconcile', {
      description: 'Compares the key-value store with the tasks that run',
      schedule: Schedule.rate(RECONCILE_INTERVAL),
      targets: [new LambdaFunction(register, { retryAttempts: 0 })],
    });
    return register;
  }

  #createStopper({ deployment, task }: OnDemandStreamHostProps): ServiceFunction {
    return new ServiceFunction(this, 'Stopper', {
      deployment,
      name: 'stop-tasks',
      timeout: STOP_TIMEOUT,
      environment: { CLUSTER: task.cluster.clusterName },
      permissions: taskReadStatements(this, task, 'ecs:StopTask'),
      wildcards: [
        {
          finding: /^Resource::\*$/,
          reason: 'ListTasks supports no resource; a condition restricts it to the cluster',
        },
        { finding: CLUSTER_TASK_FINDING, reason: 'Tasks of one cluster; task ids are known only at run time' },
      ],
    });
  }
}

/** Comma list of the subnets that tasks run in. */
const subnetIdsOf = ({ vpc }: StreamNetwork): string =>
  vpc.selectSubnets({ subnetType: SubnetType.PUBLIC }).subnetIds.join(',');

/** Allows listing and describing the tasks of the cluster. @param more further actions on each task */
const taskReadStatements = (scope: Construct, { cluster }: StreamTask, ...more: string[]): PolicyStatement[] => [
  new PolicyStatement({
    actions: ['ecs:DescribeTasks', ...more],
    resources: [arnInStack(scope, 'ecs', `task/${cluster.clusterName}/*`)],
  }),
  new PolicyStatement({
    actions: ['ecs:ListTasks'],
    resources: ['*'],
    conditions: { ArnEquals: { 'ecs:cluster': cluster.clusterArn } },
  }),
];
