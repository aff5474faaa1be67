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
import { SettingError } from '../../../core/config/index.ts';
import type { Deployment } from '../../config/index.ts';
import { createLogGroup, logWriteStatement } from './logs.ts';
import { suppressWildcards, type Wildcard } from './nag-suppressions.ts';

export interface ServiceFunctionProps {
  readonly deployment: Deployment;
  /** Name of its bundle: `get-app-info`. */
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Its permissions besides writing logs and traces. */
  readonly permissions?: readonly PolicyStatement[];
  /** The wildcards among them, each with its reason. */
  readonly wildcards?: readonly Wildcard[];
  /** @default 256 */
  readonly memoryMb?: number;
  /** @default 10 seconds */
  readonly timeout?: Duration;
  /** Size of /tmp. @default 512 MiB, Lambda's default */
  readonly ephemeralStorage?: Size;
  readonly layers?: FunctionProps['layers'];
  readonly recursiveLoop?: FunctionProps['recursiveLoop'];
  readonly reservedConcurrentExecutions?: number;
}

const XRAY_WILDCARD: Wildcard = { finding: /^Resource::\*$/, reason: 'The X-Ray write actions support no resource' };

/**
 * A Lambda function of the service: its bundle, a log group, X-Ray traces, and an execution role with exactly the given
 * permissions.
 */
export class ServiceFunction extends LambdaFunction {
  /** For policies that would be a dependency cycle as part of `permissions`. */
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
    const variables = {
      STAGE: settings.stage,
      POWERTOOLS_SERVICE_NAME: name,
      POWERTOOLS_METRICS_NAMESPACE: 'Reelay',
      REELAY_ENVIRONMENT: settings.reelayEnvironment,
      ...environment,
    };
    checkEnvironment(name, variables);
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
      reservedConcurrentExecutions: props.reservedConcurrentExecutions,
      environment: variables,
      // CDK constructs would otherwise add permissions to the role implicitly.
      role: ownRole.withoutPolicyUpdates(),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      tracing: Tracing.ACTIVE,
    });
    this.executionRole = ownRole;
  }
}

/** Lambda's limit of names and values together. */
const MAX_ENVIRONMENT_BYTES = 4096;
/** What a value has that is known at deployment only: an ARN, or two secrets. */
const UNKNOWN_VALUE = 'x'.repeat(100);

/** @throws SettingError where the variables exceed Lambda's limit, at which the deployment would fail; it names the longest */
function checkEnvironment(name: string, variables: Readonly<Record<string, string>>): void {
  const bytesOf = (value: string) => Buffer.byteLength(value.replaceAll(/\$\{Token\[[^\]]*\]\}/g, UNKNOWN_VALUE));
  const sizes = Object.entries(variables).map(([key, value]) => ({ key, bytes: key.length + bytesOf(value) }));
  const excess = sizes.reduce((sum, { bytes }) => sum + bytes, -MAX_ENVIRONMENT_BYTES);
  if (excess <= 0) return;
  const { key = '' } = sizes.sort((a, b) => b.bytes - a.bytes)[0] ?? {};
  const setting = key.toLowerCase().replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  throw new SettingError(
    `${setting} makes the environment of the function ${name} ${excess} bytes too large for Lambda (4,096): shorten it`,
  );
}

/** ARN of a resource in this stack's account and region. */
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
    // Inline, so that a resource that depends on the function also depends on its permissions.
    inlinePolicies: { permissions: new PolicyDocument({ statements }) },
  });
  suppressWildcards(role, [...wildcards, XRAY_WILDCARD]);
  return role;
}

const traceWriteStatement = () =>
  new PolicyStatement({ actions: ['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], resources: ['*'] });
