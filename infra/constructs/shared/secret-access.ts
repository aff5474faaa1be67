import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Deployment, DeploymentSettings } from '../../config/index.ts';

/** Permission to read the secrets that the settings name for every process, and `further` ones. */
export function secretReadStatements(
  { outgoingProxiesSecret, cookiesSecret }: DeploymentSettings,
  ...further: readonly (string | undefined)[]
): PolicyStatement[] {
  const resources = [outgoingProxiesSecret, cookiesSecret, ...further].filter((arn) => arn !== undefined);
  return resources.length > 0 ? [new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources })] : [];
}

/**
 * The secret of the access keys, where deliveries are made: with it the stream service encrypts what it stores of them. A host
 * that ends or stands still without requests, as both of `hobby` do, would not send what waits.
 */
export const deliverySecretOf = ({
  settings,
  profile,
}: Pick<Deployment, 'settings' | 'profile'>): string | undefined =>
  profile.streamHost === 'balanced' ? settings.accessKeysSecret : undefined;
