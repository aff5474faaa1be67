import { RemovalPolicy } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, type BucketProps } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { suppressNag } from './nag-suppressions.ts';

/** A private bucket that is emptied and deleted with the stack. @param options `versioned`: keeps former contents of objects */
export function createBucket(scope: Construct, id: string, options: Pick<BucketProps, 'versioned'> = {}): Bucket {
  const bucket = new Bucket(scope, id, {
    ...options,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    removalPolicy: RemovalPolicy.DESTROY,
    autoDeleteObjects: true,
  });
  suppressNag(bucket, { S1: 'Holds published files only; deployments are recorded by CloudTrail' });
  return bucket;
}
