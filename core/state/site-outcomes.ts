/** When the links of each site have last resolved, and since when they fail if they do, epoch seconds. */
export type SiteOutcomes = Readonly<Record<string, { readonly resolvedAt: number; readonly failedAt?: number }>>;

/** Twice the period of the alarm on failed resolves, and what its invocation takes. */
const RECENT_SECONDS = 15 * 60;
/** A site that has not resolved for longer says nothing of a release. */
const KNOWN_SECONDS = 30 * 24 * 3600;
/** How often the same outcome of a site is recorded. */
export const REPEAT_OUTCOME_SECONDS = 300;
const MAX_SITES = 100;
const MIN_FAILING_SITES = 3;

/**
 * Whether failed resolves speak against the release of yt-dlp rather than the links: of the sites that have resolved within 30
 * days, three fail now, or all where there are fewer. A site that has never resolved, as one that never answers, does not count.
 * @param now epoch seconds
 */
export function speaksAgainstRelease(outcomes: SiteOutcomes, now: number): boolean {
  const known = Object.values(outcomes).filter(({ resolvedAt }) => resolvedAt > now - KNOWN_SECONDS);
  const failing = known.filter(({ failedAt }) => failedAt !== undefined && failedAt > now - RECENT_SECONDS);
  return failing.length > 0 && failing.length >= Math.min(MIN_FAILING_SITES, known.length);
}

/**
 * The outcomes with one more; the same object when there is nothing to store.
 * @param now epoch seconds
 */
export function addOutcome(outcomes: SiteOutcomes, site: string, hasFailed: boolean, now: number): SiteOutcomes {
  const before = Object.hasOwn(outcomes, site) ? outcomes[site] : undefined;
  // A site becomes known by a success.
  if (hasFailed && !before) return outcomes;
  const { failedAt, resolvedAt = 0 } = before ?? {};
  const isChange = hasFailed !== (failedAt !== undefined);
  if (!isChange && (failedAt ?? resolvedAt) > now - REPEAT_OUTCOME_SECONDS) return outcomes;
  const kept = Object.entries(outcomes).filter(([, known]) => known.resolvedAt > now - KNOWN_SECONDS);
  if (!before && kept.length >= MAX_SITES) return outcomes;
  return { ...Object.fromEntries(kept), [site]: hasFailed ? { resolvedAt, failedAt: now } : { resolvedAt: now } };
}
