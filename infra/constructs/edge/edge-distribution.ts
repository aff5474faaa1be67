import { Duration, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AccessLevel,
  AllowedMethods,
  type BehaviorOptions,
  CacheHeaderBehavior,
  CachePolicy,
  CacheQueryStringBehavior,
  Distribution,
  Function as EdgeFunction,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  type IOrigin,
  type KeyValueStore,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { CfnSubscription } from 'aws-cdk-lib/aws-pricingplanmanager';
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct, type IDependable } from 'constructs';
import headers from '../../../web/security-headers.json' with { type: 'json' };
import type { Deployment } from '../../profiles.ts';
import { spendingPlan } from '../../spending-plan.ts';
import { regionalName, suppressNag } from '../conventions.ts';
import {
  API_PREFIX,
  anyCasePath,
  anyCasePattern,
  deployedSource,
  FUNCTION_PATHS_OF_STREAMS,
  MCP_PATH,
  STREAM_PREFIX,
  UNCACHED_PARAMETERS,
} from './viewer-request-source.ts';

interface EdgeDistributionProps {
  readonly deployment: Deployment;
  /** Host name of the HTTP API. */
  readonly apiHost: string;
  /** Value of the `x-reelay-origin` header that the HTTP API requires. */
  readonly originSecret: string;
  readonly streamOrigin: IOrigin;
  /** Complete when the stream origin answers requests of the distribution. */
  readonly streamsReady: readonly IDependable[];
  /** Holds the flag of the cost guard, the address of the task of the on-demand stream host, and the hashes of access keys. */
  readonly keyValueStore: KeyValueStore;
  /** Complete when that store holds the hashes. Absent: an open instance. */
  readonly keysApplied?: IDependable;
  readonly page: IBucket;
  /** ARN of the WAF web ACL. */
  readonly firewall?: string;
}

/** Error statuses that CloudFront would cache for ten seconds whatever the origin's Cache-Control says. */
const UNCACHED_ERROR_STATUSES = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/**
 * The base URL: a CloudFront distribution with behaviours for streams, API and page, the viewer-request function, and one that sets
 * the headers of the page.
 */
export class EdgeDistribution extends Construct {
  readonly distribution: Distribution;
  readonly baseUrl: string;

  constructor(scope: Construct, id: string, props: EdgeDistributionProps) {
    super(scope, id);
    const { deployment, page, firewall } = props;
    const { domain, certificateArn, hostedZone } = deployment.settings;
    const origins = this.#behaviours(props);
    const pageBehaviour: BehaviorOptions = {
      // LIST makes S3 answer 404 instead of 403 for missing objects.
      origin: S3BucketOrigin.withOriginAccessControl(page, {
        originId: 'page',
        originAccessControl: new S3OriginAccessControl(this, 'PageAccess', {
          originAccessControlName: regionalName(this, 'page'),
        }),
        originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
      }),
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD_OPTIONS,
      cachePolicy: CachePolicy.CACHING_OPTIMIZED,
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      functionAssociations: [
        ...origins.functionAssociations,
        { function: this.#createHeaders(), eventType: FunctionEventType.VIEWER_RESPONSE },
      ],
    };
    this.distribution = new Distribution(this, 'Distribution', {
      comment: `Reelay ${deployment.settings.stage}`,
      httpVersion: HttpVersion.HTTP2_AND_3,
      ...(firewall && { webAclId: firewall }),
      ...(domain &&
        certificateArn && {
          domainNames: [domain],
          certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
          minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
        }),
      defaultRootObject: 'index.html',
      errorResponses: UNCACHED_ERROR_STATUSES.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      defaultBehavior: pageBehaviour,
      additionalBehaviors: {
        ...Object.fromEntries(FUNCTION_PATHS_OF_STREAMS.map((path) => [anyCasePath(path), origins.api])),
        [anyCasePattern(STREAM_PREFIX)]: origins.stream,
        [anyCasePattern(API_PREFIX)]: origins.api,
        '/swagger*': origins.api,
        // Matches other paths of three letters too: the viewer-request function sends these to the page.
        [anyCasePath(MCP_PATH)]: origins.api,
      },
    });
    // Only the resource itself: the origins below the construct take minutes and can be created at the same time.
    this.distribution.node.defaultChild?.node.addDependency(...props.streamsReady);
    Validations.of(this.distribution).acknowledge({
      id: 'Annotation::@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk',
      reason: 'The default root object answers /, the only path that S3 would answer with a listing',
    });
    this.#subscribe(props);
    if (domain && hostedZone) this.#createRecords(domain, hostedZone);
    this.baseUrl = `https://${domain ?? this.distribution.distributionDomainName}`;
    suppressNag(this.distribution, {
      CFR1: 'The service has no geographic restriction; operators add their own',
      ...(!firewall && { CFR2: 'This profile omits the cost of a firewall; the API is throttled' }),
      CFR3: 'Standard logs would contain the links that users resolve; the service logs requests without them',
      ...(!domain && {
        CFR4: 'The default CloudFront certificate allows old TLS versions; a custom domain requires TLS 1.2',
      }),
      CFR5: 'Tasks and the internal load balancer serve HTTP and are reachable from CloudFront only',
    });
  }

  #createHeaders(): EdgeFunction {
    return new EdgeFunction(this, 'PageHeaders', {
      functionName: regionalName(this, 'page-headers'),
      comment: 'Sets the headers of the page',
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(PAGE_HEADERS_SOURCE),
    });
  }

  #createRecords(domain: string, hostedZoneId: string): void {
    const zone = HostedZone.fromHostedZoneAttributes(this, 'Zone', { hostedZoneId, zoneName: domain });
    const props = { zone, target: RecordTarget.fromAlias(new CloudFrontTarget(this.distribution)) };
    new ARecord(this, 'Ipv4', props);
    new AaaaRecord(this, 'Ipv6', props);
  }

  /**
   * The flat-rate plan. It takes one distribution, its web ACL, and what they use. CloudFormation creates a paid one without
   * approving it, and changes no tier: that is done in the console.
   */
  #subscribe({ deployment, keyValueStore, firewall }: EdgeDistributionProps): void {
    const { pricingPlan } = deployment.settings;
    if (pricingPlan === 'none' || !firewall) return;
    new CfnSubscription(this, 'Plan', {
      planFamily: 'CloudFront',
      planTier: pricingPlan.toUpperCase(),
      resourceArns: [this.distribution.distributionArn, firewall, keyValueStore.keyValueStoreArn],
    });
  }

  #behaviours(props: EdgeDistributionProps) {
    const { deployment, apiHost, originSecret, streamOrigin, keyValueStore, keysApplied } = props;
    const isOnDemand = deployment.profile.streamHost === 'on-demand';
    // A function for each mode: the distribution, which it chooses origins of, switches to another one together with its
    // origins. One that changed in place would be published minutes before or after them.
    const isPrivate = deployment.settings.accessKeysSecret !== undefined;
    const variant = `${isOnDemand ? 'on-demand' : 'balanced'}${isPrivate ? '-private' : ''}`;
    const route = new EdgeFunction(this, `Route-${variant}`, {
      functionName: regionalName(this, variant),
      comment: 'Normalizes paths, rejects methods, selects the origin',
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(deployedSource(deployment)),
      keyValueStore,
    });
    if (keysApplied) route.node.addDependency(keysApplied);
    const functionAssociations = [{ function: route, eventType: FunctionEventType.VIEWER_REQUEST }];
    const uncached: Omit<BehaviorOptions, 'origin'> = {
      // The viewer-request function answers 405 with ProblemDetails; CloudFront would answer with HTML.
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      compress: false,
      responseHeadersPolicy: ResponseHeadersPolicy.SECURITY_HEADERS,
      functionAssociations,
    };
    const apiOrigin = new HttpOrigin(apiHost, {
      originId: 'api',
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      // Above the 30 s integration timeout of the HTTP API.
      readTimeout: Duration.seconds(35),
      customHeaders: { 'x-reelay-origin': originSecret },
    });
    return {
      functionAssociations,
      api: { ...uncached, origin: apiOrigin },
      stream: {
        ...uncached,
        origin: streamOrigin,
        ...(spendingPlan(deployment.settings, deployment.profile).cachesStreams && {
          cachePolicy: createStreamCachePolicy(this, 'StreamCache'),
        }),
      },
    };
  }
}

const PAGE_HEADERS = Object.entries({ ...headers, 'Strict-Transport-Security': 'max-age=31536000' }).map(
  ([name, value]) => [name.toLowerCase(), { value }],
);

/**
 * The source of a viewer-response function that sets the headers of the page, and HTTPS only. A response headers policy of the
 * stack's own would be in no flat-rate plan below Business.
 */
export const PAGE_HEADERS_SOURCE = `const HEADERS = ${JSON.stringify(Object.fromEntries(PAGE_HEADERS))};
function handler(event) {
  return Object.assign(event.response, { headers: Object.assign({}, event.response.headers, HEADERS) });
}
`;

/** The longest time for which the cache serves a stream whose key is no longer valid. */
const MAX_STREAM_TTL = Duration.hours(1);

/**
 * Keeps what the stream service declares as exact (`Cache-Control: public`, a length and an ETag), and nothing else: without
 * a lifetime in the response the TTL is 0. CloudFront serves ranges of what it keeps, and requests missing ones. The key is
 * the path, what the edge function leaves of the query but `UNCACHED_PARAMETERS` (a policy names ten parameters at most, and
 * streams have more), Origin, which the CORS headers depend on, and Sec-Fetch-Site, which the edge function leaves to requests of
 * other sites alone: the origin decides each.
 */
const createStreamCachePolicy = (scope: Construct, id: string): CachePolicy =>
  new CachePolicy(scope, id, {
    cachePolicyName: regionalName(scope, id),
    comment: 'Exact streams, for as long as their responses say',
    minTtl: Duration.seconds(0),
    defaultTtl: Duration.seconds(0),
    maxTtl: MAX_STREAM_TTL,
    queryStringBehavior: CacheQueryStringBehavior.denyList(...UNCACHED_PARAMETERS),
    headerBehavior: CacheHeaderBehavior.allowList('Origin', 'Sec-Fetch-Site'),
  });
