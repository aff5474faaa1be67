import { createHash } from 'node:crypto';
import { CustomResource, Duration, Lazy, Size, Stack } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Deployment } from '../../config/index.ts';
import { allowItems, arnInStack, createBucket, ServiceFunction } from '../shared/index.ts';

export interface ToolsProps {
  readonly deployment: Deployment;
  readonly table: ITable;
  /** Changes with the secrets that the resolver accepts, which its digest below contains by reference only. */
  readonly secretRevision: string;
}

interface ReleaseFunctionProps {
  readonly name: string;
  readonly timeout: Duration;
  /** The function that runs the releases. */
  readonly resolver: ServiceFunction;
  /** In addition to those of every such function. */
  readonly permissions?: readonly PolicyStatement[];
}

/** Sizes of the functions that fetch a release, which takes about 200 MB packed and unpacked. */
const RELEASE_FUNCTION_SIZE = { memoryMb: 1024, ephemeralStorage: Size.mebibytes(2048) } as const;
/** Below the custom resource's service timeout. */
const LAYER_TIMEOUT = Duration.minutes(10);

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
      memoryMb: 2048,
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
      timeout: LAYER_TIMEOUT,
      resolver,
      permissions: [provisionStatement(resolver)],
    });
    const installed = new CustomResource(this, 'InPlace', {
      serviceToken: publisher.functionArn,
      resourceType: 'Custom::ToolsLayer',
      serviceTimeout: LAYER_TIMEOUT.plus(Duration.minutes(1)),
      // CloudFormation invokes the resource only when a property changes.
      properties: {
        resolver: Lazy.string({ produce: () => hashFunction(resolver) }),
        table: this.#props.table.tableName,
        secrets: this.#props.secretRevision,
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
    { name, timeout, resolver, permissions = [] }: ReleaseFunctionProps,
  ): ServiceFunction {
    const { deployment, table } = this.#props;
    const { toolsChannel, toolsVersion, canaryLinks, architecture, resolverProvisioned, pluginsLayerArn } =
      deployment.settings;
    const layerArn = arnInStack(this, 'lambda', `layer:${this.#layerName}`);
    return new ServiceFunction(scope, id, {
      deployment,
      name,
      ...RELEASE_FUNCTION_SIZE,
      timeout,
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
        new PolicyStatement({
          actions: ['s3:GetObject', 's3:PutObject', 's3:DeleteObject'],
          resources: [this.bucket.arnForObjects('*')],
        }),
        new PolicyStatement({ actions: ['s3:ListBucket'], resources: [this.bucket.bucketArn] }),
        new PolicyStatement({ actions: ['lambda:PublishLayerVersion'], resources: [layerArn] }),
        new PolicyStatement({
          actions: ['lambda:GetLayerVersion', 'lambda:DeleteLayerVersion'],
          resources: [`${layerArn}:*`],
        }),
        // Lambda asks for it when a function that has the layer gets another one beside it.
        ...(pluginsLayerArn
          ? [new PolicyStatement({ actions: ['lambda:GetLayerVersion'], resources: [pluginsLayerArn] })]
          : []),
        new PolicyStatement({ actions: ['lambda:ListLayerVersions'], resources: ['*'] }),
        new PolicyStatement({
          actions: [
            'lambda:UpdateFunctionConfiguration',
            'lambda:GetFunction',
            'lambda:GetFunctionConfiguration',
            'lambda:InvokeFunction',
          ],
          resources: [this.#canary.functionArn],
        }),
        ...makeLiveStatements(resolver),
        ...permissions,
        allowItems(table, ['tools', 'tools-update', 'maintenance'], 'GetItem', 'PutItem', 'DeleteItem'),
      ],
      wildcards: [
        { finding: /^Resource::\*$/, reason: 'ListLayerVersions supports no resource' },
        {
          finding: /^Resource::<ToolsBucket\w+\.Arn>\/\*$/,
          reason: 'Release archives in one bucket; their keys contain the version',
        },
        {
          finding: /^Resource::<ApiResolver\w+\.Arn>:\*$/,
          reason: 'Versions of one function; numbers are assigned when published',
        },
        {
          finding: /^Resource::.*:layer:[\w-]+-tools:\*$/,
          reason: 'Versions of one layer; numbers are assigned when published',
        },
      ],
    });
  }
}

/** Publishing versions of the resolver, testing them, and moving its alias. */
const makeLiveStatements = ({ functionArn }: ServiceFunction) => [
  new PolicyStatement({
    actions: [
      'lambda:UpdateFunctionConfiguration',
      'lambda:GetFunction',
      'lambda:GetFunctionConfiguration',
      'lambda:PublishVersion',
    ],
    resources: [functionArn],
  }),
  new PolicyStatement({
    // Alias actions are authorized on the function.
    actions: ['lambda:GetAlias', 'lambda:CreateAlias', 'lambda:UpdateAlias'],
    resources: [functionArn, `${functionArn}:${LIVE_ALIAS}`],
  }),
  new PolicyStatement({
    actions: ['lambda:InvokeFunction', 'lambda:GetFunction', 'lambda:GetFunctionConfiguration'],
    resources: [`${functionArn}:*`],
  }),
];

/** Scheduled updates move the alias, and Lambda its environments: only a deployment changes their number. */
const provisionStatement = ({ functionArn }: ServiceFunction) =>
  new PolicyStatement({
    actions: ['lambda:PutProvisionedConcurrencyConfig', 'lambda:DeleteProvisionedConcurrencyConfig'],
    resources: [`${functionArn}:${LIVE_ALIAS}`],
  });

/** Digest of the properties of a function that a version of it keeps. */
function hashFunction(of: ServiceFunction): string {
  const { code, handler, runtime, architectures, memorySize, timeout, environment, layers } = of.node
    .defaultChild as CfnFunction;
  const kept = { code, handler, runtime, architectures, memorySize, timeout, environment, layers };
  return createHash('sha256')
    .update(JSON.stringify(Stack.of(of).resolve(kept)))
    .digest('hex');
}
