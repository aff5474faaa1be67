import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';

export interface FirewallProps {
  /** Requests of one address in five minutes. */
  readonly limits: Readonly<{ resolves: number; streams: number }>;
}

const RATE_WINDOW_SECONDS = 300;
const TOO_MANY_REQUESTS_BODY = 'too-many-requests';

/**
 * Answers 429 to an address that asks too much. It looks at paths alone: rules that read query strings take the link in
 * `url=` for an attack. For CloudFront, and so to be made in us-east-1.
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
        rateRule(0, 'Resolves', '/api/fetch/', limits.resolves),
        rateRule(1, 'Streams', '/api/stream/', limits.streams),
      ],
    });
  }
}

function rateRule(priority: number, name: string, path: string, limit: number): CfnWebACL.RuleProperty {
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
        scopeDownStatement: {
          byteMatchStatement: {
            fieldToMatch: { uriPath: {} },
            positionalConstraint: 'STARTS_WITH',
            searchString: path,
            // The contract knows no case in paths; a letter may also come as its code.
            textTransformations: [
              { priority: 0, type: 'URL_DECODE' },
              { priority: 1, type: 'LOWERCASE' },
            ],
          },
        },
      },
    },
  };
}

const visibilityConfig = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
});
