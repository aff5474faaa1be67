import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { SettingError } from '../../../core/config/index.ts';

/** CloudFront's limit. */
const MAX_CHARACTERS = 64;
/** As long as the longest region, for what is known at deployment only. */
const UNKNOWN = 'ap-southeast-0';

/**
 * A name for a CloudFront resource. CloudFront is global, so names must be unique in the account: CDK's generated names
 * lack the region, and the same stage in two regions would collide.
 * @throws SettingError where the name of the stack makes it too long
 */
export const regionalName = (scope: Construct, suffix: string): string => {
  const { stackName, region } = Stack.of(scope);
  const name = `${stackName}-${region}-${suffix}`;
  if (name.replaceAll(/\$\{Token\[[^\]]*\]\}/g, UNKNOWN).length <= MAX_CHARACTERS) return name;
  throw new SettingError(`The name of the stack ${stackName} is too long: CloudFront has ${MAX_CHARACTERS} characters`);
};

/**
 * ARN of any distribution of the account, for permissions of CloudFront. The ARN of the distribution itself would make them
 * follow it: a change of the stream host would refuse requests until the distribution is deployed everywhere.
 */
export const anyDistribution = (scope: Construct): string =>
  Stack.of(scope).formatArn({ service: 'cloudfront', region: '', resource: 'distribution', resourceName: '*' });
