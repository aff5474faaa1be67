import { createHash } from 'node:crypto';
import { CfnOutput, CustomResource, Duration, Lazy, Size, Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct, type IDependable } from 'constructs';
import type { Deployment } from '../profiles.ts';
import { allow, allowItems, createBucket } from './conventions.ts';
import { arnInStack, ServiceFunction, type ServiceFunctionProps } from './service-function.ts';

interface ToolsProps {
  readonly deployment: Deployment;
  readonly table: ITable;
}

interface ReleaseFunctionProps extends Pick<ServiceFunctionProps, 'name' | 'permissions'> {
  /** The function that runs the releases. */
  readonly resolver: ServiceFunction;
}

/** Sizes of the functions that fetch a release, which takes about 200 MB packed and unpacked. */
const RELEASE_FUNCTION_SIZE = { memorySize: 1024, ephemeralStorageSize: Size.mebibytes(2048) } as const;
/** Below the custom resource's service timeout, and as long as the lease of an update lasts (`update-tools.ts`). */
const RELEASE_TIMEOUT = Duration.minutes(10);

/** The alias of the resolver that the HTTP API invokes. Created and moved by the functions that update the tools. */
export const LIVE_ALIAS = 'live';

/**
 * The tools of the resolver: a bucket for release archives, a canary function that tests each release, and a custom
 * resource that publishes the resolver of each deployment with the release to use and moves the alias to it. No template
 * contains the layer: CloudFormation would reset the resolver to the layer version of an earlier deployment.
 */
export class Tools extends Construct {
  readonly bucket: Bucket;
  readonly #props: ToolsProps;
  readonly #canary: ServiceFunction;
  readonly #layerName: string;

  constructor(scope: Construct, id: string, props: ToolsProps) {
    super(scope, id);
    this.#props = props;
    const { deployment } = props;
    this.#layerName = `${Stack.of(this).stackName}-tools`;
    this.bucket = createBucket(this, 'Bucket');
    this.#canary = new ServiceFunction(this, 'Canary', {
      deployment,
      name: 'canary',
      memorySize: 2048,
      timeout: Duration.seconds(120),
    });
  }

  /**
   * Makes the resolver live at each deployment that changes it.
   * @returns complete when the alias exists and the pointer that stream tasks read is written
   */
  install(resolver: ServiceFunction): CustomResource {
    const { settings } = this.#props.deployment;
    const publisher = this.createReleaseFunction(this, 'Layer', {
      name: 'tools-layer',
      resolver,
      // Only a deployment changes the number of provisioned environments. Scheduled updates move the alias, and Lambda the environments with it.
      permissions: allow(
        ['lambda:PutProvisionedConcurrencyConfig', 'lambda:DeleteProvisionedConcurrencyConfig'],
        `${resolver.functionArn}:${LIVE_ALIAS}`,
      ),
    });
    const installed = new CustomResource(this, 'InPlace', {
      serviceToken: publisher.functionArn,
      resourceType: 'Custom::ToolsLayer',
      serviceTimeout: RELEASE_TIMEOUT.plus(Duration.minutes(1)),
      // CloudFormation invokes the resource only when a property changes.
      properties: {
        resolver: Lazy.string({ produce: () => hashFunction(resolver) }),
        table: this.#props.table.tableName,
        channel: settings.toolsChannel,
        version: settings.toolsVersion ?? 'newest',
        provisioned: String(settings.resolverProvisioned),
      },
    });
    installed.node.addDependency(publisher, resolver, this.#canary, this.bucket, this.#props.table);
    return installed;
  }

  /** A function that may fetch, publish and test releases. */
  createReleaseFunction(
    scope: Construct,
    id: string,
    { name, resolver, permissions = [] }: ReleaseFunctionProps,
  ): ServiceFunction {
    const { deployment, table } = this.#props;
    const { toolsChannel, toolsVersion, canaryLinks, architecture, resolverProvisioned, pluginsLayerArn } =
      deployment.settings;
    const [canaryArn, resolverArn] = [this.#canary.functionArn, resolver.functionArn];
    const layerArn = arnInStack(this, 'lambda', `layer:${this.#layerName}`);
    return new ServiceFunction(scope, id, {
      deployment,
      name,
      ...RELEASE_FUNCTION_SIZE,
      timeout: RELEASE_TIMEOUT,
      environment: {
        TABLE_NAME: table.tableName,
        TOOLS_BUCKET: this.bucket.bucketName,
        LAYER_NAME: this.#layerName,
        CANARY_FUNCTION: this.#canary.functionName,
        TOOLS_CHANNEL: toolsChannel,
        ...(toolsVersion && { TOOLS_VERSION: toolsVersion }),
        ...(canaryLinks.length > 0 && { CANARY_LINKS: canaryLinks.join(',') }),
        ARCHITECTURE: architecture,
        RESOLVER_FUNCTION: resolver.functionName,
        RESOLVER_PROVISIONED: String(resolverProvisioned),
      },
      permissions: [
        ...allow(['s3:GetObject', 's3:PutObject', 's3:DeleteObject'], this.bucket.arnForObjects('*')),
        ...allow(['s3:ListBucket'], this.bucket.bucketArn),
        ...allow(['lambda:PublishLayerVersion'], layerArn),
        ...allow(['lambda:GetLayerVersion', 'lambda:DeleteLayerVersion'], `${layerArn}:*`),
        // Lambda requires it to change the layers of a function that also has this layer.
        ...allow(['lambda:GetLayerVersion'], pluginsLayerArn),
        ...allow(['lambda:ListLayerVersions'], '*'),
        ...allow(['lambda:UpdateFunctionConfiguration', 'lambda:GetFunctionConfiguration'], canaryArn, resolverArn),
        ...allow(['lambda:PublishVersion'], resolverArn),
        // Alias actions are authorized on the function.
        ...allow(
          ['lambda:GetAlias', 'lambda:CreateAlias', 'lambda:UpdateAlias'],
          resolverArn,
          `${resolverArn}:${LIVE_ALIAS}`,
        ),
        ...allow(['lambda:InvokeFunction', 'lambda:GetFunctionConfiguration'], canaryArn, `${resolverArn}:*`),
        ...permissions,
        allowItems(table, ['tools', 'tools-update', 'maintenance'], 'GetItem', 'PutItem', 'DeleteItem'),
      ],
    });
  }
}

/** Digest of the properties that a published version of a function keeps. */
function hashFunction(of: ServiceFunction): string {
  const { code, handler, runtime, architectures, memorySize, timeout, environment, layers } = of.node
    .defaultChild as CfnFunction;
  const kept = { code, handler, runtime, architectures, memorySize, timeout, environment, layers };
  return createHash('sha256')
    .update(JSON.stringify(Stack.of(of).resolve(kept)))
    .digest('hex');
}

interface ToolUpdatesProps {
  readonly tools: Tools;
  readonly resolver: ServiceFunction;
  /** Updates start when this is complete, and end before it is deleted. */
  readonly toolsInstalled: IDependable;
  /** 0: only on demand. */
  readonly intervalHours: number;
}

/** Interval at which a failed first installation is retried; until it succeeds the instance is in maintenance. */
export const INSTALL_RETRY_INTERVAL = Duration.minutes(15);

/**
 * The update function of the tools and its schedules: for updates, and for retries while there are no tools. It
 * attaches releases that pass the canary to the resolver.
 */
export class ToolUpdates extends Construct {
  readonly function: ServiceFunction;

  constructor(scope: Construct, id: string, { tools, resolver, toolsInstalled, intervalHours }: ToolUpdatesProps) {
    super(scope, id);
    this.function = tools.createReleaseFunction(this, 'Function', {
      name: 'update-tools',
      resolver,
    });
    // The next scheduled run is the retry: concurrent runs would wait for each other, and each failure raises one alarm.
    this.function.configureAsyncInvoke({ retryAttempts: 0 });
    const schedules = [
      ...(intervalHours > 0
        ? [this.function.invokeEvery(Duration.hours(intervalHours), 'Schedule', 'Checks for newer tools')]
        : []),
      this.function.invokeEvery(INSTALL_RETRY_INTERVAL, 'InstallMissing', 'Installs the tools while there are none', {
        onlyIfMissing: true,
      }),
    ];
    for (const schedule of schedules) schedule.node.addDependency(toolsInstalled);
    new CfnOutput(this, 'Command', {
      key: 'UpdateToolsCommand',
      description: 'Updates the tools now',
      value: `aws lambda invoke --region ${Stack.of(this).region} --function-name ${this.function.functionName} --invocation-type Event /dev/null`,
    });
  }
}
