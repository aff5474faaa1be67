import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/**
 * A name for a CloudFront resource. CloudFront is global, so names must be unique in the account: CDK's generated names
 * lack the region, and the same stage in two regions would collide.
 */
export const regionalName = (scope: Construct, suffix: string): string => {
  const { stackName, region } = Stack.of(scope);
  return `${stackName}-${region}-${suffix}`;
};

/**
 * ARN of any distribution of the account, for permissions of CloudFront. The ARN of the distribution itself would make them
 * follow it: a change of the stream host would refuse requests until the distribution is deployed everywhere.
 */
export const anyDistribution = (scope: Construct): string =>
  Stack.of(scope).formatArn({ service: 'cloudfront', region: '', resource: 'distribution', resourceName: '*' });
