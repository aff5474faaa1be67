import { join } from 'node:path';
import { Duration, type Size, Stack } from 'aws-cdk-lib';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Code,
  type FunctionProps,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
} from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Deployment } from '../../config/index.ts';
import { createLogGroup, logWriteStatement } from './logs.ts';
import { suppressWildcards, type Wildcard } from './nag-suppressions.ts';

export interface ServiceFunctionProps {
  readonly deployment: Deployment;
  /** As the bundle calls it: `get-app-info`. */
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** All that it may do besides writing its logs and traces. */
  readonly permissions?: readonly PolicyStatement[];
  /** The wildcards among them, each with the reason why it must be. */
  readonly wildcards?: readonly Wildcard[];
  /** MB. @default 256 */
  readonly memoryMb?: number;
  /** @default 10 seconds */
  readonly timeout?: Duration;
  /** Of /tmp. @default Lambda's 512 MiB */
  readonly ephemeralStorage?: Size;
  readonly layers?: FunctionProps['layers'];
  readonly recursiveLoop?: FunctionProps['recursiveLoop'];
}

const XRAY_WILDCARD: Wildcard = { finding: /^Resource::\*$/, reason: 'X-Ray takes traces without a resource' };

/** A Lambda of this service: its bundle, a role of its own with nothing but its permissions, its log group, traces. */
export class ServiceFunction extends LambdaFunction {
  /** To attach what would be a cycle among its permissions. */
  readonly executionRole: Role;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    const {
      deployment,
      name,
      permissions = [],
      wildcards = [],
      environment,
      ephemeralStorage,
      timeout,
      memoryMb,
    } = props;
    const { settings, bundleDir } = deployment;
    const logGroup = createLogGroup(scope, `${id}Log`, settings.logDays);
    const ownRole = createExecutionRole(
      scope,
      `${id}Role`,
      [logWriteStatement(logGroup), traceWriteStatement(), ...permissions],
      wildcards,
    );
    super(scope, id, {
      description: `Reelay ${name}`,
      code: Code.fromAsset(join(bundleDir, 'functions', name)),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: settings.architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      memorySize: memoryMb ?? 256,
      timeout: timeout ?? Duration.seconds(10),
      ephemeralStorageSize: ephemeralStorage,
      layers: props.layers,
      recursiveLoop: props.recursiveLoop,
      environment: {
        STAGE: settings.stage,
        POWERTOOLS_SERVICE_NAME: name,
        POWERTOOLS_METRICS_NAMESPACE: 'Reelay',
        REELAY_ENVIRONMENT: settings.reelayEnvironment,
        ...environment,
      },
      // What is not among the permissions is not there: no construct may add to them by itself.
      role: ownRole.withoutPolicyUpdates(),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      tracing: Tracing.ACTIVE,
    });
    this.executionRole = ownRole;
  }
}

/** ARN of a resource of this stack's account and region. */
export const arnInStack = (scope: Construct, service: string, resource: string): string =>
  Stack.of(scope).formatArn({ service, resource });

function createExecutionRole(
  scope: Construct,
  id: string,
  statements: PolicyStatement[],
  wildcards: readonly Wildcard[],
): Role {
  const role = new Role(scope, id, {
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
    // Within the role: whoever waits for the function waits for its permissions.
    inlinePolicies: { permissions: new PolicyDocument({ statements }) },
  });
  suppressWildcards(role, [...wildcards, XRAY_WILDCARD]);
  return role;
}

const traceWriteStatement = () =>
  new PolicyStatement({ actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], resources: ['*'] });
