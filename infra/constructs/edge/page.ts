import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FileSystem, Stack } from 'aws-cdk-lib';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { Construct } from 'constructs';
import { problemPages } from '../../../core/api/index.ts';
import type { Deployment } from '../../profiles.ts';
import { createBucket, createLogGroup, createProviderRole, suppressNag, suppressWildcards } from '../conventions.ts';

/** Files whose names contain a content hash, and which may be cached forever. */
const ASSET_PATTERN = 'assets/*';
const UPLOAD_MEMORY_MB = 256;
const CDK_UPLOADER_REASON = "CDK's deployment function reads the bootstrap bucket and writes to this bucket only";

/** The web page: a private bucket that only the distribution reads, and the deployment of the built files into it. */
export class Page extends Construct {
  readonly bucket: Bucket;

  constructor(scope: Construct, id: string, { settings, bundleDir }: Deployment) {
    super(scope, id);
    this.bucket = createBucket(this, 'Bucket');
    const logGroup = createLogGroup(this, 'UploadLog', settings.logDays);
    const role = createProviderRole(this, 'UploadRole', logGroup);
    const common = { sources: [Source.asset(join(bundleDir, 'web'))], destinationBucket: this.bucket, logGroup, role };
    const assets = new BucketDeployment(this, 'Assets', {
      ...common,
      exclude: ['*'],
      include: [ASSET_PATTERN],
      // Pages that are already open still load the assets of their build.
      prune: false,
      cacheControl: [CacheControl.fromString('public, max-age=31536000, immutable')],
      memoryLimit: UPLOAD_MEMORY_MB,
    });
    const problems = writeProblemPages();
    const documents = new BucketDeployment(this, 'Documents', {
      ...common,
      sources: [...common.sources, Source.asset(problems)],
      exclude: [ASSET_PATTERN],
      cacheControl: [CacheControl.noCache()],
      memoryLimit: UPLOAD_MEMORY_MB,
    });
    // It has been copied into the output of the synthesis.
    rmSync(problems, { recursive: true });
    documents.node.addDependency(assets);
    suppressWildcards(role, CDK_UPLOADER_REASON);
    const uploader = Stack.of(this).node.children.find(({ node }) => node.id.startsWith('Custom::CDKBucketDeployment'));
    if (uploader) suppressNag(uploader, { L1: 'CDK chooses the runtime of its deployment function' });
  }
}

/** @returns a new folder with the pages of all problems */
function writeProblemPages(): string {
  const folder = FileSystem.mkdtemp('problems');
  mkdirSync(join(folder, 'problems'));
  for (const { path, html } of problemPages()) writeFileSync(join(folder, `${path}.html`), html);
  return folder;
}
