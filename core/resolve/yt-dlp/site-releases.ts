import { createCache, getRetryDelay } from '../../concurrency/index.ts';
import { siteOf } from '../../config/index.ts';
import { NotDeliverable, NotFound, UpstreamError } from '../../errors/index.ts';
import { describeError, type Log } from '../../log/index.ts';
import type { YtDlp } from '../../tools/index.ts';
import { isReleaseFailure } from './failures.ts';

/** The installed releases of yt-dlp. */
export interface InstalledReleases {
  ytDlp(): YtDlp | undefined;
  /** Another release, for the sites that the first one fails. */
  alternative?(): YtDlp | undefined;
}

export type Release = 'default' | 'alternative';

/** One link to extract. */
export interface ReleaseRequest {
  readonly url: string;
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  /** Tries the default release first, whatever is known of the site. */
  readonly isReleaseTest?: boolean;
  /** The site refuses URLs that were extracted moments ago: the other release is tried first. */
  readonly isMediaRefused?: boolean;
  /** The link has failed through another outgoing address, with both releases. */
  readonly isOtherAddress?: boolean;
}

/** Chooses the release of yt-dlp for each site. */
export interface SiteReleases {
  /**
   * Runs `attempt` with the release that works for the site of the link. When it fails in a way that another release may not,
   * the other one is tried once, within the deadline; if that succeeds, the site stays with it.
   * @throws the error of the first release, or that of the second if it says why there is no media
   */
  extract<T>(request: ReleaseRequest, attempt: (release: Release, deadline: number) => Promise<T>): Promise<T>;
}

/** What is known of one site. Without a record, the default release works for it. */
interface SiteRecord {
  /** Whether the alternative is tried first. */
  readonly isMoved: boolean;
  /** The versions of both releases then: with others, anything may have changed. */
  readonly versions: string;
  /** Consecutive ones: tests of the default release if the site is moved, else links that failed with both releases. */
  readonly failures: number;
  /** Epoch milliseconds from which the release that is not tried first is tried. */
  readonly retryAt: number;
}

const MAX_SITES = 1_000;
/** Until the default release is tested again for a site that is moved. */
const TEST_DELAY = { initialDelayMs: 10 * 60_000, maxDelayMs: 6 * 3_600_000 };
/** After more links than this that failed with both releases, the second attempt is left out for a while. */
const MAX_FAILURES_OF_BOTH = 3;
const BOTH_FAILED_DELAY = { initialDelayMs: 60_000, maxDelayMs: 10 * 60_000 };
/** A link with less time left is not tried with another release, whose worker may have to start first. */
const MIN_ATTEMPT_MS = 3_000;

/** @param now epoch milliseconds, for the pauses between tests */
export function createSiteReleases(installed: InstalledReleases, log: Log, now: () => number = Date.now): SiteReleases {
  const sites = createCache<string, SiteRecord>({ maxEntries: MAX_SITES });

  /** The releases to try, in order, and whether the default one is tested for a site that is moved. */
  const plan = (site: string, versions: string, isDemanded: boolean): { order: Release[]; isTest: boolean } => {
    const record = sites.get(site);
    const isDue = isDemanded || !record || record.versions !== versions || now() >= record.retryAt;
    if (record?.isMoved) {
      if (!isDue) return { order: ['alternative', 'default'], isTest: false };
      // Recorded before its result: links of the site that come meanwhile do not repeat the test.
      sites.set(site, createMove(versions, record.failures + 1));
      return { order: ['default', 'alternative'], isTest: true };
    }
    const hasSecond = isDue || record.failures < MAX_FAILURES_OF_BOTH;
    return { order: hasSecond ? ['default', 'alternative'] : ['default'], isTest: false };
  };
  const createMove = (versions: string, failures: number): SiteRecord => ({
    ...{ isMoved: true, versions, failures },
    retryAt: now() + getRetryDelay(failures, TEST_DELAY),
  });

  const recordSuccess = (site: string, release: Release, versions: string) => {
    const record = sites.get(site);
    if (release === 'default' && record?.isMoved) {
      sites.delete(site);
      log.info('Site returns to the default release of yt-dlp', { site });
    }
    if (release === 'alternative' && !record?.isMoved) {
      sites.set(site, createMove(versions, 1));
      log.warn('Site fails with the default release of yt-dlp and goes to the other one', { site, versions });
    }
  };
  const recordFailureOfBoth = (site: string, versions: string) => {
    const record = sites.get(site);
    if (record?.isMoved) return;
    const failures = record?.versions === versions ? record.failures + 1 : 1;
    const retryAt = now() + getRetryDelay(failures, BOTH_FAILED_DELAY);
    sites.set(site, { isMoved: false, versions, failures, retryAt });
  };

  return {
    async extract(request, attempt) {
      const { url, deadline, signal } = request;
      const versions = versionsOf(installed);
      if (versions === undefined) return attempt('default', deadline);
      const site = siteOf(url);
      const { order, isTest } = plan(site, versions, request.isReleaseTest === true);
      if (request.isMediaRefused) order.reverse();
      const [first = 'default', second] = request.isOtherAddress ? order.slice(0, 1) : order;
      const attemptBy = async (release: Release, until: number) => {
        const result = await attempt(release, until);
        recordSuccess(site, release, versions);
        return result;
      };
      try {
        // Also a test that hangs leaves time for the release that works.
        return await attemptBy(first, isTest ? (Date.now() + deadline) / 2 : deadline);
      } catch (error) {
        signal.throwIfAborted();
        const mayHelp =
          isReleaseFailure(error) || isServiceFailure(error, first) || isTest || request.isMediaRefused === true;
        if (!second || !mayHelp || deadline - Date.now() < MIN_ATTEMPT_MS) throw error;
        return await attemptBy(second, deadline).catch((secondError) => {
          signal.throwIfAborted();
          log.info('Both releases of yt-dlp fail', { site, versions, error: describeError(secondError) });
          if (isReleaseFailure(error) && isReleaseFailure(secondError)) recordFailureOfBoth(site, versions);
          throw saysMore(secondError) ? secondError : error;
        });
      }
    },
  };
}

/** Undefined while there is no choice. */
function versionsOf({ ytDlp, alternative }: InstalledReleases): string | undefined {
  const [first, second] = [ytDlp(), alternative?.()];
  return first && second && `${first.version}, ${second.version}`;
}

/** Whether the alternative itself does not run. */
const isServiceFailure = (error: unknown, release: Release): boolean =>
  release === 'alternative' && error instanceof UpstreamError && error.reason === 'service-failed';

/** Whether a release has understood the site, which has no media for it. */
const saysMore = (error: unknown): boolean =>
  (error instanceof NotFound || error instanceof NotDeliverable) && !isReleaseFailure(error);
