import {
  type Architecture,
  DeleteLayerVersionCommand,
  type LambdaClient,
  PublishLayerVersionCommand,
  paginateListLayerVersions,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda';
import type { Layers, LayerVersion } from '../types.ts';

export interface LayersOptions {
  readonly client: LambdaClient;
  readonly layerName: string;
  /** It holds the archives to publish. */
  readonly bucket: string;
  readonly architecture: Architecture;
}

/** The versions of one Lambda layer, published from archives in a bucket. */
export function createLayers({ client, layerName: LayerName, bucket, architecture }: LayersOptions): Layers {
  const remove = async (number: number) => {
    await client.send(new DeleteLayerVersionCommand({ LayerName, VersionNumber: number })).catch(unlessGone);
  };

  return {
    async versions() {
      const found: LayerVersion[] = [];
      try {
        for await (const { LayerVersions = [] } of paginateListLayerVersions({ client }, { LayerName }))
          found.push(...LayerVersions.flatMap(toLayerVersion));
      } catch (error) {
        unlessGone(error);
      }
      return found.sort((a, b) => b.number - a.number);
    },
    async publish({ key, sha256, description }) {
      const published = await client.send(
        new PublishLayerVersionCommand({
          LayerName,
          Description: description,
          Content: { S3Bucket: bucket, S3Key: key },
          CompatibleArchitectures: [architecture],
          CompatibleRuntimes: ['nodejs24.x'],
          LicenseInfo: 'Unlicense',
        }),
      );
      const [version] = toLayerVersion(published);
      if (!version) throw new Error('Lambda returned no layer version');
      // The archive may have been overwritten in the bucket since it was verified.
      if (published.Content?.CodeSha256 !== Buffer.from(sha256, 'hex').toString('base64')) {
        await remove(version.number);
        throw new Error('Lambda published another archive than the verified one');
      }
      return version;
    },
    remove,
  };
}

function toLayerVersion(item: { LayerVersionArn?: string; Version?: number; Description?: string }): LayerVersion[] {
  const { LayerVersionArn: arn, Version: number, Description: description = '' } = item;
  return arn && number !== undefined ? [{ arn, number, description }] : [];
}

function unlessGone(error: unknown): void {
  if (!(error instanceof ResourceNotFoundException)) throw error;
}
