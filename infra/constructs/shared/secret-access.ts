import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { DeploymentSettings } from '../../config/index.ts';

/** Permission to read the secrets that the settings name, and no other. */
export function secretReadStatements({ outgoingProxiesSecret, cookiesSecret }: DeploymentSettings): PolicyStatement[] {
  const resources = [outgoingProxiesSecret, cookiesSecret].filter((arn) => arn !== undefined);
  return resources.length > 0 ? [new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources })] : [];
}
