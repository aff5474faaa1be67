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

/** Sizes of the functions that fetch a release, which takes about 200 MB packed and unpacked. */
const RELEASE_FUNCTION_SIZE = { memoryMb: 1024, ephemeralStorage: Size.mebibytes(2048) } as const;
/** Below the custom resource's service timeout. */
const LAYER_TIMEOUT = Duration.minutes(10);

/**
 * The tools layer: a bucket for release archives, a canary function that tests each release, a placeholder layer, and a
 * custom resource that resolves to the newest working layer version. Without it each deployment would reset the resolver
 * to the layer of the first one. The resolver is not referenced here, because it depends on the layer.
 */
export class Tools extends Construct {
  readonly bucket: Bucket;
  readonly layer: ILayerVersion;
  /** Complete when the layer exists and the pointer that stream tasks read is written. */
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
      // Changes with every deployment: CloudFormation would otherwise not invoke the resource, and reuse its first answer.
      properties: { deployedAt: deployment.deployedAt, channel: deployment.settings.toolsChannel },
    });
    this.installed.node.addDependency(publisher, this.#canary, this.bucket, table);
    this.layer = LayerVersion.fromLayerVersionArn(this, 'Version', this.installed.getAttString('LayerVersionArn'));
  }

  /** A function that may fetch, publish and test releases. @param resolver the function that it may attach them to */
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
        { finding: /^Resource::\*$/, reason: 'ListLayerVersions supports no resource' },
        {
          finding: /^Resource::<ToolsBucket\w+\.Arn>\/\*$/,
          reason: 'Release archives in one bucket; their keys contain the version',
        },
        {
          finding: /^Resource::.*:layer:[\w-]+-tools:\*$/,
          reason: 'Versions of one layer; numbers are assigned when published',
        },
      ],
    });
  }
}

const attachLayerStatement = (resolver: ServiceFunction) =>
  new PolicyStatement({
    actions: ['lambda:UpdateFunctionConfiguration', 'lambda:GetFunction', 'lambda:GetFunctionConfiguration'],
    resources: [resolver.functionArn],
  });

/** Attaching a layer requires GetLayerVersion: a failed first update restores the placeholder. */
const readPlaceholderStatement = (placeholder: LayerVersion) =>
  new PolicyStatement({ actions: ['lambda:GetLayerVersion'], resources: [placeholder.layerVersionArn] });
