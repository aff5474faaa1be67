import type { AwsCall } from '../aws-call.ts';

/** Where CloudFront is. */
const REGION = 'us-east-1';

interface EdgeSwitchOptions {
  readonly call: AwsCall;
  readonly distributionId: string;
}

/**
 * Disables the distribution, or enables it.
 * @returns whether that changed it
 * @throws Error when CloudFront refuses, such as during a deployment
 */
export type EdgeSwitch = (isOn: boolean) => Promise<boolean>;

/** That of the distribution itself, among those of its parts. */
const ENABLED = /(<\/PriceClass>\s*<Enabled>)(true|false)(?=<)/;

/** CloudFront bills no requests to a disabled distribution. It takes minutes to apply a change. */
export function createEdgeSwitch({ call, distributionId }: EdgeSwitchOptions): EdgeSwitch {
  const path = `/2020-05-31/distribution/${distributionId}/config`;
  const common = { service: 'cloudfront', region: REGION, path };
  const headers = { 'content-type': 'text/xml' };
  return async (isOn) => {
    const { text, etag = '' } = await call({ ...common, name: 'GetDistributionConfig', method: 'GET', headers });
    const [, , found] = ENABLED.exec(text) ?? [];
    if (!found) throw new Error('CloudFront sent a distribution of an unexpected form');
    if (found === String(isOn)) return false;
    const body = text.replace(ENABLED, (_, before: string) => `${before}${isOn}`);
    await call({
      ...common,
      name: 'UpdateDistribution',
      method: 'PUT',
      headers: { ...headers, 'if-match': etag },
      body,
    });
    return true;
  };
}
