import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { DeploymentSettings } from '../../config/index.ts';

/** The settings of whoever resolves and streams, as the environment that the service reads. */
export function serviceEnvironment(settings: DeploymentSettings): Record<string, string> {
  const { egressAllow, playlistLimit, search, outgoingProxiesSecret, cookiesSecret } = settings;
  return {
    ...(egressAllow.length > 0 && { EGRESS_ALLOW: egressAllow.join(',') }),
    PLAYLIST_LIMIT: String(playlistLimit),
    SEARCH: search ? 'on' : 'off',
    ...(outgoingProxiesSecret && { OUTGOING_PROXIES_SECRET: outgoingProxiesSecret }),
    ...(cookiesSecret && { COOKIES_SECRET: cookiesSecret }),
  };
}

/** Reading the secrets that the settings name, and no other. */
export function secretReading({ outgoingProxiesSecret, cookiesSecret }: DeploymentSettings): PolicyStatement[] {
  const resources = [outgoingProxiesSecret, cookiesSecret].filter((arn) => arn !== undefined);
  return resources.length > 0 ? [new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources })] : [];
}
