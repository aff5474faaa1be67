import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { DeploymentSettings } from '../../config/index.ts';

/** Permission to read the secrets that the settings name for every process, and `further` ones. */
export function secretReadStatements(
  { outgoingProxiesSecret, cookiesSecret }: DeploymentSettings,
  ...further: readonly (string | undefined)[]
): PolicyStatement[] {
  const resources = [outgoingProxiesSecret, cookiesSecret, ...further].filter((arn) => arn !== undefined);
  return resources.length > 0 ? [new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources })] : [];
}
