import type { AwsCall } from '../aws-call.ts';
import type { Limit } from './limits.ts';

/** Where CloudFront and its web ACLs are. */
const REGION = 'us-east-1';

interface FirewallSwitchOptions {
  readonly call: AwsCall;
  /** ARN of the web ACL. */
  readonly firewall: string;
}

/** A web ACL as AWS describes it. */
interface WebAcl {
  readonly DefaultAction: { readonly Block?: { readonly CustomResponse?: { readonly ResponseCode?: number } } };
  readonly [part: string]: unknown;
}

/** The other parts that an update replaces: what it leaves out is lost. */
const KEPT = [
  'Description',
  'Rules',
  'VisibilityConfig',
  'CustomResponseBodies',
  'CaptchaConfig',
  'ChallengeConfig',
  'TokenDomains',
  'AssociationConfig',
  'DataProtectionConfig',
  'ApplicationConfig',
];
const CLOSED_STATUS = 503;
const RETRY_AFTER = { Name: 'Retry-After', Value: '3600' };
const BLOCK = { Block: { CustomResponse: { ResponseCode: CLOSED_STATUS, ResponseHeaders: [RETRY_AFTER] } } };

/**
 * The web ACL refuses everything while closed: CloudFront bills no request that it blocks. One that blocks by default, as a given one may
 * that admits known addresses, stays as it is.
 */
export function createFirewallSwitch({ call, firewall }: FirewallSwitchOptions): Limit {
  const [Name, Id] = firewall.split('/').slice(-2);
  const ask = (operation: string, input: object) =>
    call({
      name: operation,
      service: 'wafv2',
      region: REGION,
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `AWSWAF_20190729.${operation}` },
      body: JSON.stringify({ Name, Id, Scope: 'CLOUDFRONT', ...input }),
    });
  return async (isClosed) => {
    const { WebACL, LockToken } = JSON.parse((await ask('GetWebACL', {})).text) as {
      WebACL: WebAcl;
      LockToken: string;
    };
    const { Block } = WebACL.DefaultAction;
    if (isClosed ? Block : Block?.CustomResponse?.ResponseCode !== CLOSED_STATUS) return;
    const kept = Object.fromEntries(KEPT.map((part) => [part, WebACL[part]]));
    await ask('UpdateWebACL', { ...kept, LockToken, DefaultAction: isClosed ? BLOCK : { Allow: {} } });
  };
}

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
