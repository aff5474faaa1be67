import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { API_PREFIX, RESOLVE_PATHS, STREAM_PREFIX } from './viewer-request-source.ts';

interface FirewallProps {
  /** Requests per client address in five minutes. */
  readonly limits: Readonly<{ resolves: number; streams: number }>;
}

const RATE_WINDOW_SECONDS = 300;
const TOO_MANY_REQUESTS_BODY = 'too-many-requests';

/**
 * WAF web ACL with one rate rule per path prefix, answering 429. The rules inspect paths only: managed rule groups that read
 * query strings block the link in `url=`. Must be created in us-east-1, as any web ACL for CloudFront.
 */
export class Firewall extends CfnWebACL {
  constructor(scope: Construct, id: string, { limits }: FirewallProps) {
    super(scope, id, {
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: visibilityConfig('Firewall'),
      customResponseBodies: {
        [TOO_MANY_REQUESTS_BODY]: {
          contentType: 'APPLICATION_JSON',
          content: JSON.stringify({ title: 'Too Many Requests', status: 429 }),
        },
      },
      rules: [
        rateRule(0, 'Resolves', RESOLVE_PATHS, limits.resolves),
        rateRule(1, 'Streams', [STREAM_PREFIX], limits.streams),
        // Also bounds the endpoints without a rule of their own: one client must not use up the API's throttle.
        rateRule(2, 'Api', [API_PREFIX], limits.resolves + limits.streams),
      ],
    });
  }
}

/** Limits the requests of one client to all these paths together. A path that ends with a slash stands for all paths below it. */
function rateRule(priority: number, name: string, paths: readonly string[], limit: number): CfnWebACL.RuleProperty {
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
          responseHeaders: [{ name: 'Retry-After', value: '60' }],
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
