import { Duration } from 'aws-cdk-lib';
import { CacheHeaderBehavior, CachePolicy, CacheQueryStringBehavior } from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';
import { regionalName } from '../shared/index.ts';
import { UNCACHED_PARAMETERS } from './viewer-request-source.ts';

/** A key whose resource is gone is served from the cache no longer than this. */
const MAX_TTL = Duration.hours(1);

/**
 * Keeps what the stream service declares as exact (`Cache-Control: public`, a length and an ETag), and nothing else: without
 * a lifetime in the response the TTL is 0. CloudFront serves ranges of what it keeps, and requests missing ones. The key is
 * the path, what the edge function leaves of the query but `UNCACHED_PARAMETERS` (a policy names ten parameters at most, and
 * streams have more), Origin, which the CORS headers depend on, and Sec-Fetch-Site, which the edge function leaves to requests of
 * other sites alone: the origin decides each.
 */
export const createStreamCachePolicy = (scope: Construct, id: string): CachePolicy =>
  new CachePolicy(scope, id, {
    cachePolicyName: regionalName(scope, id),
    comment: 'Exact streams, for as long as their responses say',
    minTtl: Duration.seconds(0),
    defaultTtl: Duration.seconds(0),
    maxTtl: MAX_TTL,
    queryStringBehavior: CacheQueryStringBehavior.denyList(...UNCACHED_PARAMETERS),
    headerBehavior: CacheHeaderBehavior.allowList('Origin', 'Sec-Fetch-Site'),
  });
