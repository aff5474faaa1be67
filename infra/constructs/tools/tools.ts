import { join } from 'node:path';
import { CustomResource, Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Code, type ILayerVersion, LayerVersion } from 'aws-cdk-lib/aws-lambda';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Deployment } from '../../config/index.ts';
import { arnInStack, createBucket, ServiceFunction, type StateTable } from '../shared/index.ts';

export interface ToolsProps {
  readonly deployment: Deployment;
  readonly table: StateTable;
}

/** Memory, /tmp and permissions of whoever fetches a release; unpacked and packed it takes some 200 MB. */
const RELEASE_FUNCTION_SIZE = { memoryMb: 1024, ephemeralStorage: Size.mebibytes(2048) } as const;
/** Within what CloudFormation waits for a custom resource. */
const LAYER_TIMEOUT = Duration.minutes(10);

/**
 * The tools layer: the bucket releases pass through, a canary that tries each, and a custom resource that gives every
 * deployment the newest good version, so that none takes off what an update put on. It names no resolver: that would
 * be a cycle.
 */
export class Tools extends Construct {
  readonly bucket: Bucket;
  readonly layer: ILayerVersion;
  /** Done when the layer is there and the pointer that stream tasks read is written. */
  readonly installed: CustomResource;
  readonly #props: ToolsProps;
  readonly #canary: ServiceFunction;
  readonly #layerName: string;
  readonly #placeholder: LayerVersion;

  constructor(scope: Construct, id: string, props: ToolsProps) {
    super(scope, id);
    this.#props = props;
    const { deployment, table } = props;
    this.#layerName = `${Stack.of(this).stackName}-tools`;
    this.bucket = createBucket(this, 'Bucket');
    this.#placeholder = new LayerVersion(this, 'Placeholder', {
      code: Code.fromAsset(join(import.meta.dirname, 'placeholder-layer')),
      description: 'No tools yet',
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.#canary = new ServiceFunction(this, 'Canary', {
      deployment,
      name: 'canary',
      memoryMb: 2048,
      timeout: Duration.seconds(120),
    });

    const publisher = this.createReleaseFunction(this, 'Layer', { name: 'tools-layer', timeout: LAYER_TIMEOUT });
    this.installed = new CustomResource(this, 'InPlace', {
      serviceToken: publisher.functionArn,
      resourceType: 'Custom::ToolsLayer',
      serviceTimeout: LAYER_TIMEOUT.plus(Duration.minutes(1)),
      // Asked at every deployment: otherwise CloudFormation would put on again what it was told the first time.
      properties: { deployedAt: deployment.deployedAt, channel: deployment.settings.toolsChannel },
    });
    this.installed.node.addDependency(publisher, this.#canary, this.bucket, table);
    this.layer = LayerVersion.fromLayerVersionArn(this, 'Version', this.installed.getAttString('LayerVersionArn'));
  }

  /** A function that fetches, publishes and tries releases. @param resolver that it may then attach them to */
  createReleaseFunction(
    scope: Construct,
    id: string,
    { name, timeout, resolver }: { name: string; timeout: Duration; resolver?: ServiceFunction },
  ): ServiceFunction {
    const { deployment, table } = this.#props;
    const { toolsChannel, toolsVersion, architecture } = deployment.settings;
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
        ARCHITECTURE: architecture,
        PLACEHOLDER_LAYER_ARN: this.#placeholder.layerVersionArn,
        ...(resolver && { RESOLVER_FUNCTION: resolver.functionName }),
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
        ...(resolver ? [attachLayerStatement(resolver), readPlaceholderStatement(this.#placeholder)] : []),
        table.allowItems(['tools', 'tools-update', 'maintenance'], 'GetItem', 'PutItem', 'DeleteItem'),
      ],
      wildcards: [
        { finding: /^Resource::\*$/, reason: 'ListLayerVersions takes no resource' },
        { finding: /^Resource::<ToolsBucket\w+\.Arn>\/\*$/, reason: 'Releases are objects of one bucket, by version' },
        { finding: /^Resource::.*:layer:[\w-]+-tools:\*$/, reason: 'Versions of one layer, numbered when published' },
      ],
    });
  }
}

const attachLayerStatement = (resolver: ServiceFunction) =>
  new PolicyStatement({
    actions: ['lambda:UpdateFunctionConfiguration', 'lambda:GetFunction', 'lambda:GetFunctionConfiguration'],
    resources: [resolver.functionArn],
  });

/** Whoever attaches layers must be allowed to read them: also the one that a failed first update puts back. */
const readPlaceholderStatement = (placeholder: LayerVersion) =>
  new PolicyStatement({ actions: ['lambda:GetLayerVersion'], resources: [placeholder.layerVersionArn] });
