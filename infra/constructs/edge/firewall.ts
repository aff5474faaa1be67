import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { RESOLVE_PATHS, STREAM_PREFIX } from './viewer-request-source.ts';

export interface FirewallProps {
  /** Requests per client address in five minutes. */
  readonly limits: Readonly<{ resolves: number; streams: number }>;
  /** Origins whose pages may read its answers, or `*` for any. WAF names one only: of several, no page reads them. */
  readonly corsAllowedOrigins: readonly string[];
}

const RATE_WINDOW_SECONDS = 300;
const TOO_MANY_REQUESTS_BODY = 'too-many-requests';

/**
 * WAF web ACL with rate rules for paths that resolve, for streams and for all paths, answering 429. The rules inspect paths only:
 * managed rule groups that read query strings block the link in `url=`. Must be created in us-east-1, as any web ACL for CloudFront.
 */
export class Firewall extends CfnWebACL {
  constructor(scope: Construct, id: string, { limits, corsAllowedOrigins }: FirewallProps) {
    const headers = corsHeaders(corsAllowedOrigins);
    super(scope, id, {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: visibilityConfig('Firewall'),
      customResponseBodies: {
        [TOO_MANY_REQUESTS_BODY]: {
          contentType: 'APPLICATION_JSON',
          content: JSON.stringify({ type: '/problems/too-many', title: 'Too Many Requests', status: 429 }),
        },
      },
      rules: [
        rateRule(0, 'Resolves', RESOLVE_PATHS, limits.resolves, headers),
        rateRule(1, 'Streams', [STREAM_PREFIX], limits.streams, headers),
        // Also of the page: what the firewall lets pass is billed at the edge, and one client must not use up the API's throttle.
        rateRule(2, 'All', [], limits.resolves + limits.streams, headers),
      ],
    });
  }
}

type ResponseHeader = CfnWebACL.CustomHTTPHeaderProperty;

function corsHeaders(allowed: readonly string[]): ResponseHeader[] {
  const value = allowed.includes('*') ? '*' : allowed.length === 1 ? allowed[0] : undefined;
  if (!value) return [];
  return [
    { name: 'Access-Control-Allow-Origin', value },
    { name: 'Access-Control-Expose-Headers', value: 'Retry-After' },
  ];
}

/**
 * Limits the requests of one client to all these paths together, to any path where there are none. A path that ends with a slash stands
 * for all paths below it.
 */
function rateRule(
  priority: number,
  name: string,
  paths: readonly string[],
  limit: number,
  headers: readonly ResponseHeader[],
): CfnWebACL.RuleProperty {
  const [first, ...others] = paths.map(isAtPath);
  return {
    name,
    priority,
    visibilityConfig: visibilityConfig(name),
    action: {
      block: {
        customResponse: {
          responseCode: 429,
          customResponseBodyKey: TOO_MANY_REQUESTS_BODY,
          responseHeaders: [{ name: 'Retry-After', value: '60' }, ...headers],
        },
      },
    },
    statement: {
      rateBasedStatement: {
        limit,
        evaluationWindowSec: RATE_WINDOW_SECONDS,
        aggregateKeyType: 'IP',
        // WAF rejects an `or` of one.
        scopeDownStatement: first && others.length > 0 ? { orStatement: { statements: [first, ...others] } } : first,
      },
    },
  };
}

const isAtPath = (path: string): CfnWebACL.StatementProperty => ({
  byteMatchStatement: {
    fieldToMatch: { uriPath: {} },
    // Exact, because paths of streams begin with that of an operation that resolves.
    positionalConstraint: path.endsWith('/') ? 'STARTS_WITH' : 'EXACTLY',
    searchString: path.toLowerCase(),
    // Paths are case-insensitive, and letters may arrive percent-encoded.
    textTransformations: [
      { priority: 0, type: 'URL_DECODE' },
      { priority: 1, type: 'LOWERCASE' },
    ],
  },
});

const visibilityConfig = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
});
