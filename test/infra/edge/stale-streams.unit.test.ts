import { describe, expect, it } from 'vitest';
import { CACHEABLE } from '../../../stream-service/http/send-representation.ts';
import { type CacheLifetimes, createCloudFrontCache, type OriginAnswer } from '../../support/cloudfront-cache.ts';
import { template } from '../deployments.ts';
import { onlyResource } from '../template.ts';

const HOUR = 3_600;

/** A cache that has kept one object, whose origin then answers something else. */
function createKept(lifetimes: CacheLifetimes, cacheControl: string) {
  let now = 0;
  let answer: OriginAnswer = { status: 200, cacheControl };
  const cache = createCloudFrontCache({ lifetimes, origin: () => answer, now: () => now });
  expect(cache.get()).toEqual({ status: 200, from: 'origin' });
  return (after: number, then: OriginAnswer) => {
    now = after;
    answer = then;
    return cache.get();
  };
}

// Of the profiles, public alone keeps streams at the edge: its cap allows for what they cost until it is noticed.
describe('CloudFront with the stream cache policy', () => {
  const { CachePolicyConfig } = onlyResource(template('public'), 'AWS::CloudFront::CachePolicy') as never as {
    CachePolicyConfig: CacheLifetimes;
  };
  const GONE = { status: 404, cacheControl: 'no-store' };

  it.each([CACHEABLE, 'public, max-age=86400', 'public, max-age=86400, stale-if-error=0'])(
    'serves a gone stream with %j for an hour at most',
    (cacheControl) => {
      const later = createKept(CachePolicyConfig, cacheControl);
      expect(later(HOUR - 1, GONE)).toEqual({ status: 200, from: 'hit' });
      expect(later(HOUR, GONE)).toEqual({ status: 404, from: 'origin' });
      // Neither is it served when the origin fails after that.
      expect(later(HOUR + 1, { status: 503 })).toEqual({ status: 503, from: 'origin' });
    },
  );

  it('keeps no stream that the service marks as not to be stored, nor one without a lifetime', () => {
    for (const cacheControl of ['no-store', '']) {
      const later = createKept(CachePolicyConfig, cacheControl);
      expect(later(1, undefined)).toEqual({ status: 504, from: 'origin' });
    }
  });

  it.each([{ status: 503 }, { status: 502 }, undefined])(
    'replaces %j by an expired stream, unless stale-if-error forbids it',
    (failure) => {
      const later = createKept(CachePolicyConfig, 'public, max-age=3600, must-revalidate');
      expect(later(30 * 24 * HOUR, failure)).toEqual({ status: 200, from: 'stale' });
      const bounded = createKept(CachePolicyConfig, CACHEABLE);
      expect(bounded(HOUR - 1, failure)).toEqual({ status: 200, from: 'hit' });
      expect(bounded(HOUR, failure)).toEqual({ status: failure?.status ?? 504, from: 'origin' });
    },
  );
});
