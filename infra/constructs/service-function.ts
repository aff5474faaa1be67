import { join } from 'node:path';
import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { PolicyDocument, type PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
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
import { SettingError } from '../../core/config/index.ts';
import type { Deployment } from '../profiles.ts';
import { allow, allowLogging, createLogGroup } from './conventions.ts';

export interface ServiceFunctionProps
  extends Pick<
    FunctionProps,
    'ephemeralStorageSize' | 'layers' | 'memorySize' | 'recursiveLoop' | 'reservedConcurrentExecutions' | 'timeout'
  > {
  readonly deployment: Deployment;
  /** Name of its bundle: `get-resource`. */
  readonly name: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Its permissions besides writing logs and traces. */
  readonly permissions?: readonly PolicyStatement[];
}

const ALLOW_TRACING = allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*');

/**
 * A Lambda function of the service: its bundle, a log group, X-Ray traces, and an execution role with exactly the given
 * permissions.
 */
export class ServiceFunction extends LambdaFunction {
  /** For policies that name the function itself: in `permissions` they would make a dependency cycle. */
  readonly executionRole: Role;

  constructor(
    scope: Construct,
    id: string,
    { deployment, name, permissions = [], environment, ...props }: ServiceFunctionProps,
  ) {
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
    const ownRole = new Role(scope, `${id}Role`, {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      // Inline, so that a resource that depends on the function also depends on its permissions.
      inlinePolicies: {
        permissions: new PolicyDocument({
          statements: [...allowLogging(logGroup), ...ALLOW_TRACING, ...permissions],
        }),
      },
    });
    super(scope, id, {
      memorySize: 256,
      timeout: Duration.seconds(10),
      ...props,
      description: `Reelay ${name}`,
      code: Code.fromAsset(join(bundleDir, 'functions', name)),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: settings.architecture === 'arm64' ? Architecture.ARM_64 : Architecture.X86_64,
      environment: variables,
      // CDK constructs would otherwise add permissions to the role implicitly.
      role: ownRole.withoutPolicyUpdates(),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      tracing: Tracing.ACTIVE,
    });
    this.executionRole = ownRole;
  }

  /** Invokes it at an interval. The next time is the retry. @param description what it then does @param event its input */
  invokeEvery(interval: Duration, id: string, description: string, event?: object): Rule {
    const input = event && { event: RuleTargetInput.fromObject(event) };
    const target = new LambdaTarget(this, { retryAttempts: 0, ...input });
    return new Rule(this.node.scope ?? this, id, { description, schedule: Schedule.rate(interval), targets: [target] });
  }
}

/** Lambda's limit of names and values together. */
const MAX_ENVIRONMENT_BYTES = 4096;
/** Stands for a value that is known at deployment only, an ARN or two secrets. */
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

/** Metrics that the service writes to its logs in CloudWatch's embedded metric format. */
export type ServiceMetric =
  | 'Resolves'
  | 'Streams'
  | 'StreamsStarted'
  | 'BytesSent'
  | 'ReResolves'
  | 'FfmpegFailures'
  | 'ToolAgeHours'
  | 'ToolUpdateFailed'
  | 'ToolsMissing'
  | 'ProcessPerLink'
  | 'MaintenanceSeconds';

/** A service metric of this stage. @param options default to the sum over five minutes */
export const serviceMetric = (
  stage: string,
  metricName: ServiceMetric,
  { dimensionsMap, ...options }: MetricOptions = {},
): Metric =>
  new Metric({
    namespace: 'Reelay',
    metricName,
    dimensionsMap: { Stage: stage, ...dimensionsMap },
    statistic: 'Sum',
    period: Duration.minutes(5),
    ...options,
  });
