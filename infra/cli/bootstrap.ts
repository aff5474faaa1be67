import { HeadBucketCommand, S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import type { DeploymentTarget } from './cli-plan.ts';

/**
 * Whether the environment is bootstrapped, that is, whether CDK's asset bucket exists.
 * @throws Error when AWS gives no clear answer
 */
export async function isBootstrapped(
  { bucket, region, account }: DeploymentTarget,
  profile?: string,
): Promise<boolean> {
  const client = new S3Client({ region, ...(profile && { profile }) });
  try {
    await client.send(new HeadBucketCommand({ Bucket: bucket, ExpectedBucketOwner: account }));
    return true;
  } catch (error) {
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return false;
    throw error;
  } finally {
    client.destroy();
  }
}
