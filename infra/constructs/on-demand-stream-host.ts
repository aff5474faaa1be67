import { Duration, Fn, Stack } from 'aws-cdk-lib';
import { FunctionUrlOriginAccessControl, type KeyValueStore, OriginProtocolPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { CfnPermission, FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { Construct, type IDependable } from 'constructs';
import type { Deployment } from '../profiles.ts';
import { allow, allowItems, allowKeys, anyDistribution, regionalName } from './conventions.ts';
import { arnInStack, ServiceFunction } from './service-function.ts';
import type { StreamNetwork } from './stream-network.ts';
import { type StreamTask, TASK_PORT } from './stream-task.ts';

interface OnDemandStreamHostProps {
  readonly deployment: Deployment;
  readonly network: StreamNetwork;
  readonly task: StreamTask;
  readonly table: ITable;
  /** Holds the address of the running task for the viewer-request function. */
  readonly keyValueStore: KeyValueStore;
}

const CLOUDFRONT = 'cloudfront.amazonaws.com';

/**
 * The stream host of `hobby`: an ECS service that has one task or none. The function `wake` sets the count to one for the first
 * request with a valid key, and to zero when the idle task says so; it writes the address of the task to the key-value store.
 */
export class OnDemandStreamHost extends Construct {
  readonly wake: ServiceFunction;
  /** The wake function. The viewer-request function replaces it by the task that is registered. */
  readonly origin: HttpOrigin;
  /** Complete when CloudFront may call the wake function, and there is a service to wake. */
  readonly ready: readonly IDependable[];
  /** The names by which the cost guard stops the service, and what it needs for that. */
  readonly control: { readonly environment: Readonly<Record<string, string>>; readonly permissions: PolicyStatement[] };

  constructor(scope: Construct, id: string, props: OnDemandStreamHostProps) {
    super(scope, id);
    const { network, task } = props;
    const taskGroup = network.createGroupForCloudFront(this, 'TaskGroup', TASK_PORT);
    const { clusterName } = task.cluster;
    // A name of its own: task, function and service would otherwise depend on each other in a circle.
    const serviceName = `${Stack.of(this).stackName}-on-demand`;
    this.control = {
      environment: { CLUSTER: clusterName, SERVICE: serviceName },
      permissions: allow(
        ['ecs:DescribeServices', 'ecs:UpdateService'],
        arnInStack(this, 'ecs', `service/${clusterName}/${serviceName}`),
      ),
    };
    this.wake = this.#createWake(props, taskGroup.securityGroupId);
    // No retries: the stream itself retries, and a late start would run a task without clients.
    this.wake.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) });
    task.definition.defaultContainer?.addEnvironment('HOST_FUNCTION', this.wake.functionName);
    for (const statement of allow(['lambda:InvokeFunction'], this.wake.functionArn))
      task.taskRole.addToPrincipalPolicy(statement);
    // Its id differs from the balanced host's: a change of profile deletes one only after the other serves.
    const service = task.createService(this, 'OnDemandService', { serviceName, securityGroups: [taskGroup] });
    const wake = this.#createWakeOrigin();
    this.ready = [...wake.ready, service];
    this.origin = wake.origin;
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

  #createWake({ deployment, table, keyValueStore }: OnDemandStreamHostProps, securityGroup: string): ServiceFunction {
    return new ServiceFunction(this, 'Wake', {
      deployment,
      name: 'wake',
      timeout: Duration.seconds(20),
      environment: {
        ...this.control.environment,
        TABLE_NAME: table.tableName,
        CORS_ALLOWED_ORIGINS: deployment.settings.corsAllowedOrigins.join(','),
        SECURITY_GROUP: securityGroup,
        KEY_VALUE_STORE_ARN: keyValueStore.keyValueStoreArn,
      },
      permissions: [
        ...this.control.permissions,
        ...allow(['ec2:DescribeNetworkInterfaces'], '*'),
        ...allowKeys(keyValueStore.keyValueStoreArn, 'GetKey', 'PutKey', 'DeleteKey'),
        allowItems(table, ['resource#*'], 'GetItem'),
      ],
    });
  }
}
