import {
  type Architecture,
  DeleteLayerVersionCommand,
  type LambdaClient,
  PublishLayerVersionCommand,
  paginateListLayerVersions,
  ResourceNotFoundException,
} from '@aws-sdk/client-lambda';

/** One version of the tools layer. */
export interface LayerVersion {
  readonly arn: string;
  /** Increases with each published version. */
  readonly number: number;
  /** Set by `describeLayer` (`plan.ts`). */
  readonly description: string;
}

interface LayersOptions {
  readonly client: LambdaClient;
  readonly layerName: string;
  /** It holds the archives to publish. */
  readonly bucket: string;
  readonly architecture: Architecture;
}

/** The versions of one Lambda layer, published from archives in a bucket. */
export function createLayers({ client, layerName: LayerName, bucket, architecture }: LayersOptions) {
  const remove = async (versions: readonly LayerVersion[]): Promise<void> => {
    for (const { number } of versions)
      await client.send(new DeleteLayerVersionCommand({ LayerName, VersionNumber: number }));
  };

  return {
    /** Newest first. */
    async versions(): Promise<LayerVersion[]> {
      const pages = Array.fromAsync(paginateListLayerVersions({ client }, { LayerName }));
      const found = await pages.catch((error: unknown) => {
        if (error instanceof ResourceNotFoundException) return [];
        throw error;
      });
      return found
        .flatMap(({ LayerVersions = [] }) => LayerVersions.map(toLayerVersion))
        .sort((a, b) => b.number - a.number);
    },
    /** @throws Error when the published archive has another checksum: it may have been overwritten since it was verified */
    async publish(archive: { readonly key: string; readonly sha256: string; readonly description: string }) {
      const published = await client.send(
        new PublishLayerVersionCommand({
          LayerName,
          Description: archive.description,
          Content: { S3Bucket: bucket, S3Key: archive.key },
          CompatibleArchitectures: [architecture],
          CompatibleRuntimes: ['nodejs24.x'],
          LicenseInfo: 'Unlicense',
        }),
      );
      const version = toLayerVersion(published);
      if (published.Content?.CodeSha256 === Buffer.from(archive.sha256, 'hex').toString('base64')) return version;
      await remove([version]);
      throw new Error('Lambda published another archive than the verified one');
    },
    /** Does nothing for versions that do not exist, as Lambda does. */
    remove,
  };
}

const toLayerVersion = (item: { LayerVersionArn?: string; Version?: number; Description?: string }): LayerVersion => ({
  arn: item.LayerVersionArn ?? '',
  number: item.Version ?? 0,
  description: item.Description ?? '',
});
