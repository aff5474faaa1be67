import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Duration, Validations } from 'aws-cdk-lib';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import {
  AccessLevel,
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
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
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import type { Deployment } from '../../config/index.ts';
import { suppressNag } from '../shared/index.ts';
import { apiHeaders, createHeadersPolicy, pageHeaders } from './security-headers.ts';

export interface EdgeDistributionProps {
  readonly deployment: Deployment;
  /** Host name of the HTTP API, and what opens it. */
  readonly apiHost: string;
  readonly originSecret: string;
  readonly streamOrigin: IOrigin;
  /** Where the task that runs is found; only with a stream host on demand. */
  readonly keyValueStore?: KeyValueStore;
  readonly page: IBucket;
  /** ARN of the firewall. */
  readonly firewall?: string;
}

/** All that CloudFront would otherwise keep for ten seconds, whatever the origin says. */
const UNCACHED_ERROR_STATUSES = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504];

/** The one base URL: streams, the API and the page behind one distribution. */
export class EdgeDistribution extends Construct {
  readonly distribution: Distribution;
  readonly baseUrl: string;

  constructor(scope: Construct, id: string, props: EdgeDistributionProps) {
    super(scope, id);
    const { deployment, page, firewall } = props;
    const { domain, certificateArn } = deployment.settings;
    const origins = this.#behaviours(props);
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
      defaultBehavior: {
        // With LIST: without it what is not there would be 403.
        origin: S3BucketOrigin.withOriginAccessControl(page, {
          originId: 'page',
          originAccessLevels: [AccessLevel.READ, AccessLevel.LIST],
        }),
        allowedMethods: AllowedMethods.ALLOW_GET_HEAD_OPTIONS,
        cachePolicy: CachePolicy.CACHING_OPTIMIZED,
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        functionAssociations: origins.functionAssociations,
        responseHeadersPolicy: createHeadersPolicy(this, 'PageHeaders', pageHeaders(deployment.pageHeadersFile)),
      },
      // A `?` stands for one character: patterns know case, the contract does not.
      additionalBehaviors: {
        '/???/??????/*': origins.stream,
        '/???/*': origins.api,
        '/swagger*': origins.api,
      },
    });
    Validations.of(this.distribution).acknowledge({
      id: 'Annotation::@aws-cdk/aws-cloudfront-origins:listBucketSecurityRisk',
      reason: 'The root has its document, and nothing else in the bucket is a listing',
    });
    this.baseUrl = `https://${domain ?? this.distribution.distributionDomainName}`;
    suppressNag(this.distribution, {
      CFR1: 'Whom to serve is for the operator to say, not for the template',
      ...(!firewall && { CFR2: 'This profile does without the cost of a firewall; the API is throttled' }),
      CFR3: 'Links that people resolve are theirs: the service logs what happens without them',
      ...(!domain && { CFR4: "CloudFront's own certificate admits old protocols; a domain of one's own ends that" }),
      CFR5: 'Tasks and the internal load balancer speak HTTP; CloudFront alone reaches them',
    });
  }

  #behaviours({ deployment, apiHost, originSecret, streamOrigin, keyValueStore }: EdgeDistributionProps) {
    const route = new EdgeFunction(this, 'Route', {
      comment: 'Folds paths, refuses methods, chooses the origin',
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(viewerRequestCode(deployment.profile.streamHost)),
      ...(keyValueStore && { keyValueStore }),
    });
    const functionAssociations = [{ function: route, eventType: FunctionEventType.VIEWER_REQUEST }];
    const uncached: Omit<BehaviorOptions, 'origin'> = {
      // All: what is refused is refused by the function, in the service's own words.
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      compress: false,
      responseHeadersPolicy: createHeadersPolicy(this, 'ApiHeaders', apiHeaders()),
      functionAssociations,
    };
    const apiOrigin = new HttpOrigin(apiHost, {
      originId: 'api',
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      // Above the 30 s of the HTTP API.
      readTimeout: Duration.seconds(35),
      customHeaders: { 'x-reelay-origin': originSecret },
    });
    return {
      functionAssociations,
      api: { ...uncached, origin: apiOrigin },
      stream: {
        ...uncached,
        origin: streamOrigin,
        // A group of origins takes no other methods.
        ...(deployment.profile.streamHost === 'on-demand' && { allowedMethods: AllowedMethods.ALLOW_GET_HEAD_OPTIONS }),
      },
    };
  }
}

const viewerRequestCode = (mode: string): string =>
  readFileSync(join(import.meta.dirname, 'viewer-request.js'), 'utf8').replaceAll('__MODE__', mode);
