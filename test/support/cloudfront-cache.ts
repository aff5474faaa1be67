/** What an origin answers; undefined: it cannot be reached, or answers too late. */
export type OriginAnswer = { readonly status: number; readonly cacheControl?: string } | undefined;

/** Lifetimes of a CloudFront cache policy, in seconds. */
export interface CacheLifetimes {
  readonly MinTTL: number;
  readonly DefaultTTL: number;
  readonly MaxTTL: number;
}

interface CloudFrontCacheOptions {
  readonly lifetimes: CacheLifetimes;
  readonly origin: () => OriginAnswer;
  /** Seconds. */
  readonly now: () => number;
}

/** The answer to a viewer: `hit` and `stale` come from the cache. */
interface ViewerAnswer {
  readonly status: number;
  readonly from: 'origin' | 'hit' | 'stale';
}

/**
 * How long CloudFront serves one object, by its developer guide. Expiration: the lifetime is `s-maxage` or `max-age` within
 * MinTTL and MaxTTL. "How CloudFront processes HTTP 4xx and 5xx status codes": with an expired object in the cache a 5xx, or no
 * answer, is replaced by that object for as long as it is not evicted; a 4xx is not. `stale-if-error` (RFC 5861) bounds that.
 * `must-revalidate` is taken as ignored: reports from before that directive was supported say so.
 */
export function createCloudFrontCache({ lifetimes, origin, now }: CloudFrontCacheOptions) {
  let kept: { readonly until: number; readonly staleUntil: number } | undefined;
  return {
    get(): ViewerAnswer {
      if (kept && now() < kept.until) return { status: 200, from: 'hit' };
      const answer = origin();
      if (!answer || answer.status >= 500) {
        if (kept && now() < kept.staleUntil) return { status: 200, from: 'stale' };
        return { status: answer?.status ?? 504, from: 'origin' };
      }
      kept = answer.status < 300 ? keep(answer.cacheControl ?? '') : undefined;
      return { status: answer.status, from: 'origin' };
    },
  };

  function keep(cacheControl: string) {
    const seconds = (name: string) => {
      const [, value] = new RegExp(`(?:^|[\\s,])${name}=(\\d+)`).exec(cacheControl) ?? [];
      return value === undefined ? undefined : Number(value);
    };
    const { MinTTL, DefaultTTL, MaxTTL } = lifetimes;
    const isPrivate = /no-store|no-cache|private/.test(cacheControl);
    const wanted = isPrivate ? MinTTL : (seconds('s-maxage') ?? seconds('max-age') ?? DefaultTTL);
    const until = now() + Math.min(Math.max(wanted, MinTTL), MaxTTL);
    if (until === now()) return undefined;
    return { until, staleUntil: until + (seconds('stale-if-error') ?? Infinity) };
  }
}
